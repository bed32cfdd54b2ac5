/** The stores, at the start of a sentence. */
export const storeTitles: Readonly<Record<string, string>> = {
  database: 'The database',
  redis: 'Redis',
  chainStore: 'The Redis of the chain store',
}

/** What is on a disk, in a sentence. */
export const diskTitles: Readonly<Record<string, string>> = {
  database: 'the database',
  chainStore: 'the chain store',
}
