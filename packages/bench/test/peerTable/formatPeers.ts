import { formatTable } from '../../src/formatTable.ts'

/** The outcome of a case for a subject, through one of its APIs. */
export interface Outcome {
  readonly subject: string
  readonly name: string
  readonly api: 'library' | 'raw'
  readonly problems: readonly string[]
}

/** The content of PEERS.md. */
export interface PeerTable {
  readonly columns: readonly {
    readonly name: string
    readonly isOurs: boolean
    readonly made: string
  }[]
  readonly cases: readonly { readonly name: string; readonly group: string }[]
  readonly outcomes: readonly Outcome[]
  /** Why Keyrail accepts a problem, by case and subject. */
  readonly argumentFor: (name: string, subject: string) => string | undefined
  /** The run: its command, the versions, the day. */
  readonly run: string
}

/** A case in which a column of Keyrail is not right. */
export interface Loss {
  readonly name: string
  readonly subject: string
  readonly cell: string
  /** The other columns that are right. */
  readonly wonBy: readonly string[]
  readonly argument: string | undefined
}

const RIGHT = 'right'

/** Joins equal problems of several calls: `calls 1, 3 failed`. */
const joined = (problems: readonly string[]): string => {
  const calls = new Map<string, string[]>()
  for (const problem of problems) {
    const [, at, text] = /^call (\d+) (.*)$/.exec(problem) ?? [undefined, undefined, problem]
    calls.set(text as string, [...(calls.get(text as string) ?? []), ...(at === undefined ? [] : [at])])
  }
  return [...calls]
    .map(([text, at]) => (at.length === 0 ? text : `call${at.length > 1 ? 's' : ''} ${at.join(', ')} ${text}`))
    .join('; ')
}

/** Formats the outcome of a subject in a case; empty if it was not run. */
export function formatCell(outcomes: readonly Outcome[], name: string, subject: string): string {
  const own = outcomes.filter((one) => one.name === name && one.subject === subject)
  const texts = own.map(({ api, problems }) => ({ api, text: joined(problems) }))
  const wrong = texts.filter(({ text }) => text !== '')
  if (wrong.length === 0) return own.length === 0 ? '' : RIGHT
  const [one] = wrong
  if (wrong.length === texts.length && wrong.every(({ text }) => text === one?.text)) return String(one?.text)
  return wrong.map(({ api, text }) => `${api}: ${text}`).join('; ')
}

/** Finds the cases in which a column of Keyrail is not right. */
export function findLosses({ columns, cases, outcomes, argumentFor }: PeerTable): readonly Loss[] {
  return cases.flatMap(({ name }) =>
    columns
      .filter(({ isOurs }) => isOurs)
      .map((column) => ({ column, cell: formatCell(outcomes, name, column.name) }))
      .filter(({ cell }) => cell !== RIGHT)
      .map(({ column, cell }) => ({
        name,
        subject: column.name,
        cell: cell || 'not run',
        wonBy: columns
          .filter((other) => !other.isOurs && formatCell(outcomes, name, other.name) === RIGHT)
          .map((other) => other.name),
        argument: argumentFor(name, column.name),
      })),
  )
}

/** Formats PEERS.md: counts, the cases in which Keyrail is not right, and the outcome of each case. */
export function formatPeers(table: PeerTable): string {
  const { columns, cases, outcomes, run } = table
  const groups = [...new Set(cases.map(({ group }) => group))]
  const names = columns.map(({ name }) => name)
  const countRight = (among: PeerTable['cases'], subject: string): number =>
    among.filter(({ name }) => formatCell(outcomes, name, subject) === RIGHT).length
  const of = (group: string): PeerTable['cases'] => cases.filter((one) => one.group === group)
  const counts = [
    ...groups.map((group) => [group, String(of(group).length), ...names.map((name) => countRight(of(group), name))]),
    ['all', String(cases.length), ...names.map((name) => countRight(cases, name))],
  ].map((line) => line.map(String))
  const losses = findLosses(table)
  const lines = (some: readonly Loss[]): string =>
    some.length === 0
      ? 'None.'
      : [...new Set(some.map(({ name }) => name))]
          .map((name) => {
            const own = some.filter((loss) => loss.name === name)
            const cells = own.map(({ subject, cell }) => `${subject}: ${cell}`).join('; ')
            const won = own[0]?.wonBy.length ? `Right: ${own[0].wonBy.join(', ')}. ` : ''
            return `- **${name}.** ${cells}. ${won}${own[0]?.argument ?? 'No reason given.'}`
          })
          .join('\n')
  return [
    '# Peers',
    'How Keyrail\u2019s adapters and the libraries\u2019 own providers handle the cases of `packages/vectors/adapters.json`, which has the reason for each\n' +
      'expectation. Every cell comes from a run, through the functions of the library and through its raw calls. \u2018right\u2019 means that both are right.\n' +
      'Otherwise the cell says what was wrong, and in which of the two if they differ. A call that takes longer than 15 s counts as failed.',
    run,
    formatTable(
      ['column', 'made by'],
      columns.map(({ name, made }) => [name, `\`${made}\``]),
      'left',
    ),
    'Cases with a timeout or with joined calls use the options of the library for these. Libraries without a signal for each call get one when they are\n' +
      'created.',
    '## Right cases',
    formatTable(['group', 'cases', ...names], counts),
    '## Cases in which a peer is right and Keyrail is not',
    lines(losses.filter(({ wonBy }) => wonBy.length > 0)),
    '## Cases in which neither is right',
    lines(losses.filter(({ wonBy }) => wonBy.length === 0)),
    '## Cases',
    ...groups.flatMap((group) => [
      `### ${group}`,
      formatTable(
        ['case', ...names],
        of(group).map(({ name }) => [name, ...names.map((subject) => formatCell(outcomes, name, subject))]),
        'left',
      ),
    ]),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n')
}
