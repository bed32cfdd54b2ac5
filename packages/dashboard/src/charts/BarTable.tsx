import type { ReactNode } from 'react'
import { TableBox } from '../parts/TableBox.tsx'

/** A part of a whole. */
export interface BarRow {
  readonly key: string
  readonly title: ReactNode
  /** From 0 to 1. */
  readonly part: number
  readonly isBad?: boolean
  /** One for each column of numbers. */
  readonly numbers: readonly string[]
}

/** The parts of a whole, each with a bar and numbers. */
export function BarTable(props: {
  /** For screen readers. */
  readonly label: string
  /** The heading of the titles. */
  readonly heading: string
  /** The headings of the numbers. */
  readonly columns: readonly string[]
  readonly rows: readonly BarRow[]
  /** Whether the titles are code. @default false */
  readonly mono?: boolean
}) {
  return (
    <TableBox label={props.label}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{props.heading}</th>
            <td className="filler" />
            {props.columns.map((title) => (
              <th scope="col" className="number" key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map(({ key, title, part, isBad, numbers }) => (
            <tr key={key}>
              <th scope="row" className={props.mono ? 'mono' : undefined}>
                {title}
              </th>
              <BarCell part={part} bad={isBad} />
              {numbers.map((text, at) => (
                <td className="number" key={props.columns[at]}>
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

/** A part of a whole, drawn beside its number. */
function BarCell({ part, bad = false }: { readonly part: number; readonly bad?: boolean | undefined }) {
  return (
    <td className="bar-cell" aria-hidden="true">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none">
        <rect className="track" width="100" height="8" />
        <rect className={bad ? 'fill bad' : 'fill'} width={Math.max(part > 0 ? 1 : 0, part * 100)} height="8" />
      </svg>
    </td>
  )
}
