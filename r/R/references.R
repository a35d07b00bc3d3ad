# References to values that are stored elsewhere in the file. A column or an attribute may consist
# of cells, a cell may name a table, and a table has columns, so files nest. Code that finds a
# reference calls the generic `read_reference`, and the reader of each kind has its method.

# A node that names a cell.
cell_ref <- function(number) structure(as.double(number), class = "entasis_cell")

# Neighbouring cells, from one number up to another.
cells_ref <- function(start, end) structure(c(start, end), class = "entasis_cells")

# A node that names an extra column, counted among the extra columns, which follow the table's
# columns.
extra_ref <- function(number) structure(as.double(number), class = "entasis_column")

# The value that a node refers to: the value of a cell, a list of the values of cells, or the vector
# of a column with a description.
read_reference <- function(node, file, description = NULL) UseMethod("read_reference")

read_reference.default <- function(node, file, description) nonsense("a reference that is not a column")

# The kind and children of a cell.
look_at_cell <- function(file, cell) core(.Call(C_look, handle_of(file), cell))

CELL_TABLE <- 30L
CELL_LIST <- 64L
CELL_MAP <- 68L

CELL_OBJECT <- 77L
CELL_ARRAY <- 96L
