/** A fenced block of a Markdown file. */
export interface Fence {
  /** The first line after the fence, from 1. */
  readonly line: number
  /** The info string: the language, or `text` for plain text. */
  readonly info: string
  readonly code: string
}

/**
 * Finds the fenced blocks of a Markdown text, also inside lists.
 * @param markdown - The text.
 * @throws If a fence is never closed.
 * @see CommonMark section 4.5
 */
export function findFences(markdown: string): Fence[] {
  const found: Fence[] = []
  const lines = markdown.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const open = /^(\s*)(```+|~~~+)\s*(.*)$/.exec(lines[at] ?? '')
    if (!open) continue
    const [, indent = '', fence = '', info = ''] = open
    const start = at + 1
    const isEnd = (line: string): boolean =>
      line.trim().startsWith(fence) && line.trim().replaceAll(fence.charAt(0), '') === ''
    do at++
    while (at < lines.length && !isEnd(lines[at] ?? ''))
    if (at === lines.length) throw new Error(`line ${start}: a fence is never closed`)
    const code = lines.slice(start, at).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    found.push({ line: start + 1, info: info.trim(), code: code.join('\n') })
  }
  return found
}

/** Removes the text of fenced blocks and inline code but no lines, so that links in code are not found. */
export function withoutCode(markdown: string): string {
  const lines = markdown.split('\n')
  for (const { line, code } of findFences(markdown)) {
    const height = code === '' ? 1 : code.split('\n').length
    for (let at = line - 1; at < line - 1 + height; at++) lines[at] = ''
  }
  return lines.join('\n').replaceAll(/(`+)[^`\n]+\1/g, '')
}
