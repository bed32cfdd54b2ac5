import type { Markdown } from './siteLinks.ts'

/**
 * Makes an empty header cell, the upper left corner of many tables, a data cell. Screen readers read a header before each cell.
 * @param markdown - The instance of markdown-it.
 * @see WCAG 2.2 technique H63
 */
export const emptyHeaders = (markdown: Markdown): void => {
  markdown.core.ruler.push('empty-headers', ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      const [content, close] = tokens.slice(at + 1, at + 3)
      if (token.type === 'th_open' && content?.content === '' && close) token.tag = close.tag = 'td'
    }
  })
}
