import { formatTable } from '../../src/formatTable.ts'

/** What came of one case for one subject through one face. */
export interface Outcome {
  readonly subject: string
  readonly name: string
  readonly face: 'library' | 'raw'
  readonly problems: readonly string[]
}

/** What the file of peers is made of. */
export interface PeerTable {
  readonly columns: readonly {
    readonly name: string
    readonly isOurs: boolean
    readonly made: string
  }[]
  readonly cases: readonly { readonly name: string; readonly group: string }[]
  readonly outcomes: readonly Outcome[]
  /** Why ours is left as it is, by case and subject. */
  readonly argumentFor: (name: string, subject: string) => string | undefined
  /** How the run was made: the command, the versions, the day. */
  readonly run: string
}

/** A case in which one of ours is not right. */
export interface Loss {
  readonly name: string
  readonly subject: string
  readonly cell: string
  /** Those of others that are right in it. */
  readonly wonBy: readonly string[]
  readonly argument: string | undefined
}

const RIGHT = 'right'

/** Says problems of calls that end alike together: `calls 1, 3 failed`. */
const joined = (problems: readonly string[]): string => {
  const calls = new Map<string, string[]>()
  for (const problem of problems) {
    const [, at, said] = /^call (\d+) (.*)$/.exec(problem) ?? [undefined, undefined, problem]
    calls.set(said as string, [...(calls.get(said as string) ?? []), ...(at === undefined ? [] : [at])])
  }
  return [...calls]
    .map(([said, at]) => (at.length === 0 ? said : `call${at.length > 1 ? 's' : ''} ${at.join(', ')} ${said}`))
    .join('; ')
}

/** What a subject got in a case, in a few words; empty where it was not run. */
export function formatCell(outcomes: readonly Outcome[], name: string, subject: string): string {
  const own = outcomes.filter((one) => one.name === name && one.subject === subject)
  const said = own.map(({ face, problems }) => ({ face, text: joined(problems) }))
  const wrong = said.filter(({ text }) => text !== '')
  if (wrong.length === 0) return own.length === 0 ? '' : RIGHT
  const [one] = wrong
  if (wrong.length === said.length && wrong.every(({ text }) => text === one?.text)) return String(one?.text)
  return wrong.map(({ face, text }) => `${face}: ${text}`).join('; ')
}

/** The cases in which one of ours is not right, whoever else is. */
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

/** The file of peers: counts, then each case with what each subject got, then the cases in which ours is not right. */
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
            return `- **${name}.** ${cells}. ${won}${own[0]?.argument ?? 'Not argued.'}`
          })
          .join('\n')
  return [
    '# Peers',
    'What a server does to users of a library, and what they see: our adapters beside the libraries\u2019 own providers, in the cases of\n' +
      '`packages/vectors/adapters.json`, which says of each why it must be so. Every cell comes from a run, by the library\u2019s own functions and by its\n' +
      'raw calls; \u2018right\u2019 is right by both, and else it says what was not right, and by which of them where they differ. A call that has not ended\n' +
      'after 15 s is given up.',
    run,
    formatTable(
      ['column', 'made by'],
      columns.map(({ name, made }) => [name, `\`${made}\``]),
      'left',
    ),
    'Where a case gives a time or joins calls, they are made with the option that they have for it. What has no option for a signal of each call is\n' +
      'given one when it is made.',
    '## Right cases',
    formatTable(['group', 'cases', ...names], counts),
    '## Where a peer is right and ours is not',
    lines(losses.filter(({ wonBy }) => wonBy.length > 0)),
    '## Where neither is right',
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
