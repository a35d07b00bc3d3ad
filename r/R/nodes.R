# Checks of the nodes of a host map, and of the values of cells.

# Checks that a node is a number: of a column, or of a position in it.
number_of <- function(node) {
  if (!is.numeric(node) || length(node) != 1L || is.na(node)) nonsense("a column number that is not a number")
  as.double(node)
}

# Item `k` of a node that must be a list.
part_of <- function(node, k) {
  if (!is.list(node) || length(node) < k) nonsense("a list with too few items")
  node[[k]]
}

# Checks that a node is a string.
string_of <- function(node) {
  if (!is.character(node) || length(node) != 1L || is.na(node)) nonsense("a name that is not a string")
  node
}

# Checks that a description of a column or labels is a map, or NULL.
check_map <- function(node) {
  if (!is.null(node) && !is.list(node)) nonsense("a description that is not a map")
  node
}
