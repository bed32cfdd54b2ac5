import { isAccountError, openOperatorTools } from '@keyrail/gateway'
import type { OperatorTools } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { nearest } from '../arguments/nearest.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { formatTable } from '../output/formatTable.ts'
import { printData } from '../output/print.ts'
import { getStyle } from '../output/style.ts'
import { getConfigFile } from './getConfigFile.ts'
import { withConfig } from './withConfig.ts'

type Users = OperatorTools['users']
type Account = NonNullable<Awaited<ReturnType<Users['findUser']>>>

/** One thing that is done to accounts. */
interface Action {
  /** What must follow its name. */
  readonly needs: readonly string[]
  /** A word that may follow besides. */
  readonly may?: string
  /** Its own options. */
  readonly takes: readonly string[]
  readonly run: (tools: OperatorTools, given: ReadArguments, words: readonly string[]) => Promise<Said>
}

/** What is to be printed: for programs, and for people. */
interface Said {
  readonly json: unknown
  readonly lines: readonly string[]
}

const dayMs = 86_400_000
const pageSize = 200
const mostLimit = 1_000_000_000

/** Rejections are results; here they end the command. */
function granted<T>(result: T): Exclude<T, { readonly status: number; readonly code: string }> {
  if (isAccountError(result)) throw new CliError(result.message)
  return result as Exclude<T, { readonly status: number; readonly code: string }>
}

async function find(users: Users, who: string): Promise<Account> {
  const user = await users.findUser(who.startsWith('usr_') ? { id: who } : { email: who })
  if (user === undefined) {
    throw new CliError('there is no such account', { hint: 'give its email address or its id; see keyrail users list' })
  }
  return user
}

const shown = ({ id, email, state, role, limits, createdAt }: Account): Record<string, unknown> => ({
  id,
  email,
  state,
  role,
  limits,
  createdAt: new Date(createdAt).toISOString(),
})

async function listAll(users: Users, search: string | undefined): Promise<Account[]> {
  const all: Account[] = []
  for (let after = ''; ;) {
    const page = await users.listUsers({ after, limit: pageSize, ...(search === undefined ? {} : { email: search }) })
    all.push(...page)
    after = page.at(-1)?.id ?? ''
    if (page.length < pageSize) return all
  }
}

/** A limit as it is typed: a number, or `none`. */
function readLimit(given: ReadArguments, name: string): number | null | undefined {
  const text = given.text(name)
  if (text === 'none') return null
  return readWholeNumber(`--${name}`, text, { min: 1, max: mostLimit })
}

const setState =
  (state: Account['state']): Action['run'] =>
  async ({ users }, _given, [who = '']) => {
    const { id } = await find(users, who)
    const user = granted(await users.setUserState({ id, state }))
    const said = state === 'active' ? 'is enabled' : 'is disabled: its sessions have ended and its keys are rejected'
    return { json: shown(user), lines: [`${user.email} ${said}`] }
  }

const actions: Readonly<Record<string, Action>> = {
  list: {
    needs: [],
    takes: ['search'],
    run: async ({ users }, given) => {
      const all = await listAll(users, given.text('search'))
      const style = getStyle(process.stdout)
      const rows = all.map(({ id, email, state, role, limits, createdAt }) => [
        id,
        email,
        state === 'active' ? state : style.bad(state),
        role,
        limits === null ? '' : 'own limits',
        new Date(createdAt).toISOString().slice(0, 10),
      ])
      return {
        json: all.map(shown),
        lines:
          all.length === 0
            ? ['There are no accounts.']
            : formatTable([['ID', 'EMAIL', 'STATE', 'ROLE', 'LIMITS', 'SINCE'].map(style.faint), ...rows]),
      }
    },
  },
  invite: {
    needs: [],
    may: 'EMAIL',
    takes: ['days'],
    run: async ({ users, siteUrl }, given, [email]) => {
      const days = readWholeNumber('--days', given.text('days'), { min: 1, max: 30 }) ?? 7
      const { invite, text } = granted(
        await users.inviteUser({ ...(email === undefined ? {} : { email }), validMs: days * dayMs }),
      )
      const url = `${siteUrl}/sign-up#${text}${email === undefined ? '' : `&email=${encodeURIComponent(email)}`}`
      const expiresAt = new Date(invite.expiresAt).toISOString()
      return {
        json: { id: invite.id, email: invite.email, url, expiresAt },
        lines: [`Works once, until ${expiresAt}${email === undefined ? '' : `, for ${email}`}:`, url],
      }
    },
  },
  disable: { needs: ['EMAIL'], takes: [], run: setState('disabled') },
  enable: { needs: ['EMAIL'], takes: [], run: setState('active') },
  role: {
    needs: ['EMAIL', 'ROLE'],
    takes: [],
    run: async ({ users }, _given, [who = '', role = '']) => {
      if (role !== 'user' && role !== 'operator') throw wrongUsage('a role is user or operator')
      const { id } = await find(users, who)
      const user = granted(await users.setUserRole({ id, role }))
      return { json: shown(user), lines: [`${user.email} is ${role === 'user' ? 'a user' : 'an operator'}`] }
    },
  },
  'reset-password': {
    needs: ['EMAIL'],
    takes: [],
    run: async ({ users, siteUrl }, _given, [who = '']) => {
      const { id, email } = await find(users, who)
      const { text, expiresAt } = granted(await users.resetLink({ id }))
      const url = `${siteUrl}/reset-password#${text}`
      const until = new Date(expiresAt).toISOString()
      return {
        json: { id, email, url, expiresAt: until },
        lines: [`Works once, until ${until}, for ${email}. The password stays as it is until then:`, url],
      }
    },
  },
  limits: {
    needs: ['EMAIL'],
    takes: ['per-second', 'burst', 'per-day', 'per-month', 'default'],
    run: async ({ users }, given, [who = '']) => {
      const user = await find(users, who)
      const burst = readWholeNumber('--burst', given.text('burst'), { min: 1, max: 1_000_000 })
      const asked = {
        perSecond: readLimit(given, 'per-second'),
        burst,
        perDay: readLimit(given, 'per-day'),
        perMonth: readLimit(given, 'per-month'),
      }
      const changed = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
      const isDefault = given.flag('default')
      if (isDefault && Object.keys(changed).length > 0) throw wrongUsage('--default takes every limit back')
      const limits = isDefault ? null : { ...user.limits, ...changed }
      const after =
        isDefault || Object.keys(changed).length > 0
          ? granted(await users.setUserLimits({ id: user.id, limits }))
          : user
      const told = Object.entries(after.limits ?? {}).map(([name, value]) => [
        `  ${name}`,
        value === null ? 'none' : JSON.stringify(value),
      ])
      return {
        json: shown(after),
        lines:
          told.length === 0
            ? [`${after.email} has the limits of the service`]
            : [`${after.email} has limits of its own; the rest are those of the service`, ...formatTable(told)],
      }
    },
  },
}

const optionsOfActions = ['search', 'days', 'per-second', 'burst', 'per-day', 'per-month', 'default']

/**
 * `keyrail users …`: what an operator does to accounts, on the database of a service that may run meanwhile.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for a wrong command line or config; 1 where it was rejected.
 */
export async function users(given: ReadArguments): Promise<number> {
  const [name, ...words] = given.positionals
  const names = Object.keys(actions)
  if (name === undefined) throw wrongUsage(`keyrail users needs one of ${names.join(', ')}`, 'see keyrail users --help')
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action === undefined) {
    const meant = nearest(name, names)
    throw wrongUsage(
      `there is no keyrail users ${name}`,
      `${meant === undefined ? '' : `did you mean ${meant}? `}there are ${names.join(', ')}`,
    )
  }
  const { needs, may } = action
  if (words.length < needs.length || words.length > needs.length + (may === undefined ? 0 : 1)) {
    const follow = [...needs, ...(may === undefined ? [] : [`[${may}]`])].join(' ')
    throw wrongUsage(`keyrail users ${name} takes ${follow === '' ? 'no further word' : follow}`)
  }
  const foreign = optionsOfActions.find(
    (option) => !action.takes.includes(option) && (given.text(option) !== undefined || given.flag(option)),
  )
  if (foreign !== undefined) throw wrongUsage(`keyrail users ${name} has no option --${foreign}`)

  const file = getConfigFile(given)
  return withConfig(file, async () => {
    const tools = await openOperatorTools(file)
    try {
      const { json, lines } = await action.run(tools, given, words)
      // A link is what was asked for, so it is not masked.
      await printData(given.flag('json') ? JSON.stringify(json) : lines.join('\n'))
      return exitCodes.ok
    } finally {
      await tools.close()
    }
  })
}
