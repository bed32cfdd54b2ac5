/** How a column stores a member of a record. */
export interface Column<Stored, Value> {
  readonly read: (stored: Stored) => Value
  readonly write: (value: Value) => Stored
}

/** A column that a new record may leave out. */
export interface OptionalColumn<Stored, Value> extends Column<Stored, Value> {
  readonly initial: Value
}

// oxlint-disable-next-line typescript/no-explicit-any -- A column reads what it wrote: its own types check that.
type Columns = Readonly<Record<string, Column<any, any>>>

/** A row with these columns. */
export type RowOf<Map extends Columns> = {
  -readonly [Name in keyof Map]: ReturnType<Map[Name]['write']>
}

/** A record that these columns store. */
export type RecordOf<Map extends Columns> = {
  readonly [Name in keyof Map]: ReturnType<Map[Name]['read']>
}

type OptionalOf<Map extends Columns> = {
  [Name in keyof Map]: Map[Name] extends { readonly initial: unknown } ? Name : never
}[keyof Map]

/** A new record: members whose columns have an initial value may be left out. */
export type NewOf<Map extends Columns> = Omit<RecordOf<Map>, OptionalOf<Map>> &
  Partial<Pick<RecordOf<Map>, OptionalOf<Map>>>

/** A column that stores the value itself. */
export const plain = <Value>(): Column<Value, Value> => ({ read: (value) => value, write: (value) => value })

/** A column that stores the value itself, or `null`, with which it starts. */
export const nullable = <Value>(): OptionalColumn<Value | null, Value | null> => ({
  ...plain<Value | null>(),
  initial: null,
})

/** A boolean, stored as 0 or 1. It starts as `false`. */
export const flag: OptionalColumn<number, boolean> = {
  read: (stored) => stored === 1,
  write: (value) => (value ? 1 : 0),
  initial: false,
}

/** A number. It starts as 0. */
export const count: OptionalColumn<number, number> = { ...plain<number>(), initial: 0 }

/** A list or an object, stored as JSON text. */
export const json = <Value>(): Column<string, Value> => ({
  read: (text) => JSON.parse(text) as Value,
  write: (value) => JSON.stringify(value),
})

/** An object, stored as JSON text, or `null`, with which it starts. */
export const jsonOrNull: OptionalColumn<string | null, Readonly<Record<string, unknown>> | null> = {
  read: (text) => (text === null ? null : (JSON.parse(text) as Record<string, unknown>)),
  write: (value) => (value === null ? null : JSON.stringify(value)),
  initial: null,
}

/** Lists the names of columns. */
export const listColumns = <Map extends Columns>(columns: Map): readonly (keyof Map & string)[] => Object.keys(columns)

/** Picks the members of a record that have these columns. */
export const pickColumns = <Map extends Columns>(columns: Map, record: RecordOf<Map>): RecordOf<Map> =>
  Object.fromEntries(listColumns(columns).map((name) => [name, record[name]])) as RecordOf<Map>

/** Reads the record of a row. Other columns of the row are left out. */
export const fromRow = <Map extends Columns>(columns: Map, row: RowOf<Map>): RecordOf<Map> =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, column.read(row[name]) as unknown]),
  ) as RecordOf<Map>

/** Writes the columns of those members of a record that are given. */
export const toRow = <Map extends Columns>(
  columns: Map,
  record: { readonly [Name in keyof Map]?: RecordOf<Map>[Name] | undefined },
): Partial<RowOf<Map>> =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, column]) =>
      record[name] === undefined ? [] : [[name, column.write(record[name]) as unknown]],
    ),
  ) as Partial<RowOf<Map>>

/** Writes the columns of a new record. Members that are left out get the initial values of their columns. */
export const toNewRow = <Map extends Columns>(columns: Map, record: NewOf<Map>): RowOf<Map> => {
  const given = record as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => {
      const { write, initial }: Columns[string] & { readonly initial?: unknown } = column
      return [name, write(given[name] ?? initial) as unknown]
    }),
  ) as RowOf<Map>
}
