import type { Network } from '../../lib/network.ts'

type Cell = string | number | null

/** The rows of a CSV table. The first one is its header. */
export type CsvTable = readonly (readonly Cell[])[]

const formatCell = (cell: Cell): string => {
  if (cell === null) return ''
  const text = String(cell)
  // Spreadsheets would run these as formulas.
  const escaped = typeof cell === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}

/**
 * Formats a table as CSV.
 * @see RFC 4180
 */
export const toCsv = (table: CsvTable): string => table.map((row) => `${row.map(formatCell).join(',')}\r\n`).join('')

/** The app, API key or account that a CSV file is about. */
export interface CsvSubject {
  readonly id: string
  /** `id` is used instead if no character of the name is allowed. */
  readonly name: string
  /** The network of an API key. */
  readonly network?: Network
}

const maxNameLength = 40

/** Reduces a name to a to z, digits and hyphens, which every file system supports. */
const toSlug = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxNameLength)
    .replaceAll(/^-+|-+$/g, '')

/**
 * Names a CSV file, so that files of several apps and keys can share a folder.
 * @param content - What is in it.
 * @returns Such as `keyrail-portfolio-series-week.csv`: only a to z, digits, hyphens and one dot.
 */
export const toCsvFileName = ({ id, name, network }: CsvSubject, content: readonly string[]): string =>
  `${['keyrail', toSlug(name) || toSlug(id), ...(network === undefined ? [] : [network]), ...content].join('-')}.csv`
