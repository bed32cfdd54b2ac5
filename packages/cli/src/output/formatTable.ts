import { stripVTControlCharacters } from 'node:util'

const width = (text: string): number => stripVTControlCharacters(text).length

/**
 * Sets rows in columns, two spaces apart. Colour does not count as width, and nothing is padded at a line's end.
 *
 * @param rows - The cells of each row; the rows may differ in length.
 * @param indent - What each line begins with. @default ''
 * @example
 * formatTable([['testnet', '10'], ['main', '9']]) // ['testnet  10', 'main     9']
 */
export function formatTable(rows: readonly (readonly string[])[], indent = ''): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, width(cell))
  }
  return rows.map((row) => {
    const cells = row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell)))
    return `${indent}${cells.join('  ')}`.trimEnd()
  })
}
