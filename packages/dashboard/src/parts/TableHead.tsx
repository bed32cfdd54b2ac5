/** The title of a column. Those of numbers are on the right. */
export type ColumnTitle = string | { readonly title: string; readonly isNumber?: boolean | undefined }

/** The first row of a table. */
export function TableHead(props: {
  readonly titles: readonly ColumnTitle[]
  /** Whether a last column without a title has the buttons of each row. @default false */
  readonly hasButtons?: boolean
}) {
  return (
    <thead>
      <tr>
        {props.titles.map((column) => {
          const { title, isNumber = false } = typeof column === 'string' ? { title: column } : column
          return (
            <th key={title} scope="col" className={isNumber ? 'number' : undefined}>
              {title}
            </th>
          )
        })}
        {props.hasButtons === true && <td />}
      </tr>
    </thead>
  )
}
