# The engine of the package's vignettes: converts Markdown with chunks of R, which it runs, to HTML.
# It needs only R. It knows headings, paragraphs, lists, tables, `code` and **strong** text, and
# chunks between lines of ```.

weave <- function(file, ..., encoding = "UTF-8") {
  lines <- vignette_lines(file, encoding)
  title <- sub("^# ", "", grep("^# ", lines, value = TRUE)[1L])
  env <- globalenv()
  out <- sub("[.][A-Za-z]+$", ".html", basename(file))
  body <- unlist(lapply(vignette_blocks(lines), block_html, env))
  style <- paste("body { max-width: 46em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif }",
                 "pre { background: #f4f4f4; padding: .6em .8em; overflow: auto } pre.out { background: none; border-left: 3px solid #ccc }",
                 "table { border-collapse: collapse } td, th { padding: .2em .8em; border-bottom: 1px solid #ddd; text-align: left }")
  head <- c("<!DOCTYPE html>", "<html><head><meta charset=\"utf-8\">", paste0("<title>", escaped(title), "</title>"),
            paste0("<style>", style, "</style>"), "</head><body>")
  writeLines(enc2utf8(c(head, body, "</body></html>")), out, useBytes = TRUE)
  out
}

tangle <- function(file, ..., encoding = "UTF-8") {
  blocks <- vignette_blocks(vignette_lines(file, encoding))
  code <- unlist(lapply(blocks, function(block) if (startsWith(block[1L], "```r")) c(block[-1L], "")))
  out <- sub("[.][A-Za-z]+$", ".R", basename(file))
  writeLines(code, out)
  out
}

# The lines of a vignette without the comment at its top, which is for R's index.
vignette_lines <- function(file, encoding) {
  lines <- readLines(file, encoding = if (is.null(encoding) || encoding == "") "UTF-8" else encoding, warn = FALSE)
  lines[!cumsum(grepl("^<!--", lines)) > cumsum(c(FALSE, grepl("-->$", lines)[-length(lines)]))]
}

# The blocks of a vignette: chunks without their last line, and paragraphs.
vignette_blocks <- function(lines) {
  blocks <- list()
  block <- character()
  in_chunk <- FALSE
  for (line in c(lines, "")) {
    ends <- if (in_chunk) startsWith(line, "```") else line == "" || startsWith(line, "```")
    if (ends) {
      if (length(block) > 0L) blocks[[length(blocks) + 1L]] <- block
      in_chunk <- !in_chunk && startsWith(line, "```")
      block <- if (in_chunk) line else character()
    } else {
      block <- c(block, line)
    }
  }
  blocks
}

block_html <- function(block, env) {
  first <- block[1L]
  if (startsWith(first, "```")) {
    code <- block[-1L]
    shown <- paste0("<pre><code>", paste(escaped(code), collapse = "\n"), "</code></pre>")
    result <- if (startsWith(first, "```r")) run_chunk(code, env)
    return(
      c(
        shown,
        if (length(result) > 0L) {
          paste0("<pre class=\"out\"><code>", paste(escaped(result), collapse = "\n"), "</code></pre>")
        }
      )
    )
  }
  if (grepl("^#+ ", first)) {
    level <- nchar(sub("^(#+) .*", "\\1", first))
    return(paste0("<h", level, ">", inline_html(sub("^#+ ", "", first)), "</h", level, ">"))
  }
  if (startsWith(first, "- ")) {
    items <- split(block, cumsum(startsWith(block, "- ")))
    return(
      c(
        "<ul>",
        vapply(
          items,
          function(item) paste0("<li>", inline_html(sub("^- ", "", paste(trimws(item), collapse = " "))), "</li>"),
          ""
        ),
        "</ul>"
      )
    )
  }
  if (startsWith(first, "|")) {
    cells <- strsplit(sub("^[|] *", "", sub(" *[|]$", "", block[!grepl("^[|][-| ]+$", block)])), " *[|] *")
    row <- function(cells, tag) paste0(
      "<tr>", paste0("<", tag, ">", vapply(cells, inline_html, ""), "</", tag, ">", collapse = ""), "</tr>"
    )
    return(c("<table>", row(cells[[1L]], "th"), vapply(cells[-1L], row, "", "td"), "</table>"))
  }
  paste0("<p>", inline_html(paste(block, collapse = "\n")), "</p>")
}

inline_html <- function(text) {
  text <- gsub("`([^`]+)`", "<code>\\1</code>", escaped(text))
  text <- gsub("[*][*]([^*]+)[*][*]", "<strong>\\1</strong>", text)
  gsub("\\[([^]]+)\\]\\((https?:[^)]+)\\)", "<a href=\"\\2\">\\1</a>", text)
}

escaped <- function(text) gsub(
  ">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE), fixed = TRUE
)

# The output of a chunk.
run_chunk <- function(code, env) {
  utils::capture.output(for (expr in parse(text = code, keep.source = FALSE)) {
    value <- withVisible(eval(expr, env))
    if (value$visible) print(value$value)
  })
}
