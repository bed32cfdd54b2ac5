import { stripVTControlCharacters } from 'node:util'

const width = (text: string): number => stripVTControlCharacters(text).length

/**
 * Aligns rows in columns, two spaces apart. Colors do not count as width, and lines have no trailing spaces.
 *
 * @param rows - The cells. Rows may differ in length.
 * @param indent - The prefix of each line. @default ''
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
