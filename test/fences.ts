/** A fenced block of a Markdown file. */
export interface Fence {
  /** The first line after the fence, from 1. */
  readonly line: number
  /** The info string: the language, and `text` for what is only to be read. */
  readonly info: string
  readonly code: string
}

/**
 * Finds the fenced blocks of a Markdown text, also inside lists.
 * @param markdown - The text.
 * @throws Where a fence is never closed.
 * @see CommonMark section 4.5
 */
export function fences(markdown: string): Fence[] {
  const found: Fence[] = []
  const lines = markdown.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const open = /^(\s*)(```+|~~~+)\s*(.*)$/.exec(lines[at] ?? '')
    if (!open) continue
    const [, indent = '', fence = '', info = ''] = open
    const begin = at + 1
    const isEnd = (line: string): boolean =>
      line.trim().startsWith(fence) && line.trim().replaceAll(fence.charAt(0), '') === ''
    do at++
    while (at < lines.length && !isEnd(lines[at] ?? ''))
    if (at === lines.length) throw new Error(`line ${begin}: a fence is never closed`)
    const code = lines.slice(begin, at).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    found.push({ line: begin + 1, info: info.trim(), code: code.join('\n') })
  }
  return found
}

/** The same text with its fenced blocks and inline code blanked, line by line, for whoever looks for links. */
export function withoutCode(markdown: string): string {
  const lines = markdown.split('\n')
  for (const { line, code } of fences(markdown)) {
    const height = code === '' ? 1 : code.split('\n').length
    for (let at = line - 1; at < line - 1 + height; at++) lines[at] = ''
  }
  return lines.join('\n').replaceAll(/(`+)[^`\n]+\1/g, '')
}
