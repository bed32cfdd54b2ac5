import type { ReactNode } from 'react'
import { BarCell } from './BarCell.tsx'

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
    <div className="table-box" tabIndex={0} role="region" aria-label={props.label}>
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
    </div>
  )
}
