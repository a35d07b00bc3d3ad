# Work in several calls, which have one bar.

# The results of work on the numbers from 1 to the number of sizes. `sizes` are proportional to the
# time that each takes.
in_steps <- function(sizes, work) {
  ends <- cumsum(as.double(sizes)) / max(sum(sizes), 1)
  on.exit(.Call(C_step, -1, 0))
  lapply(seq_along(sizes), function(i) {
    .Call(C_step, if (i == 1L) 0 else ends[i - 1L], ends[i])
    work(i)
  })
}
