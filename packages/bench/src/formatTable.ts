/**
 * Formats a Markdown table with aligned columns: the first one on the left, the others on the right.
 *
 * @param head - Names of the columns.
 * @param lines - The rows, each with one cell per column.
 * @param rest - The alignment of the other columns: numbers on the right, words on the left. @default 'right'
 */
export function formatTable(
  head: readonly string[],
  lines: readonly (readonly string[])[],
  rest: 'left' | 'right' = 'right',
): string {
  const isRight = (column: number): boolean => rest === 'right' && column > 0
  const widths = head.map((name, column) =>
    Math.max(3, ...[name, ...lines.map((line) => line[column] ?? '')].map(width)),
  )
  const row = (cells: readonly string[]): string =>
    `| ${widths.map((room, column) => pad(cells[column] ?? '', room, isRight(column))).join(' | ')} |`
  const rule = `| ${widths.map((room, column) => (isRight(column) ? '-'.repeat(room - 1) + ':' : '-'.repeat(room))).join(' | ')} |`
  return [row(head), rule, ...lines.map(row)].join('\n')
}

const width = (text: string): number => [...text].length
const pad = (text: string, room: number, right: boolean): string => {
  const space = ' '.repeat(room - width(text))
  return right ? space + text : text + space
}
