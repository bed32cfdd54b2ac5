import { findEmailProblems, isAccountError, openOperatorTools } from '@keyrail/gateway'
import type { OperatorTools } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { findNearestName } from '@keyrail/core/internal'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { formatTable } from '../output/formatTable.ts'
import { printData } from '../output/print.ts'
import { getStyle } from '../output/style.ts'
import { getConfigFile } from './getConfigFile.ts'
import { withConfig } from './withConfig.ts'

type Users = OperatorTools['users']
type Account = NonNullable<Awaited<ReturnType<Users['findUser']>>>

/** An action on accounts. */
interface Action {
  /** Its required arguments. */
  readonly needs: readonly string[]
  /** An optional argument. */
  readonly optional?: string
  /** Its options. */
  readonly takes: readonly string[]
  readonly run: (tools: OperatorTools, given: ReadArguments, words: readonly string[]) => Promise<ActionResult>
}

/** The output: for programs and for people. */
interface ActionResult {
  readonly json: unknown
  readonly lines: readonly string[]
}

const dayMs = 86_400_000
const pageSize = 200
const maxLimit = 1_000_000_000

/** Converts an error result to an exception. */
function unwrap<T>(result: T): Exclude<T, { readonly status: number; readonly code: string }> {
  if (isAccountError(result)) throw new CliError(result.message)
  return result as Exclude<T, { readonly status: number; readonly code: string }>
}

async function find(users: Users, idOrEmail: string): Promise<Account> {
  const user = await users.findUser(idOrEmail.includes('@') ? { email: idOrEmail } : { id: idOrEmail })
  if (user === undefined) {
    throw new CliError('account not found', { hint: 'use its email address or its id from keyrail users list' })
  }
  return user
}

const toJson = ({ id, email, state, role, limits, hasSecondFactor, createdAt }: Account): Record<string, unknown> => ({
  id,
  email,
  state,
  role,
  limits,
  hasSecondFactor,
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

/** Reads a limit: a number, or `none`. */
function readLimit(given: ReadArguments, name: string): number | null | undefined {
  const text = given.text(name)
  if (text === 'none') return null
  return readWholeNumber(`--${name}`, text, { min: 1, max: maxLimit })
}

const setState =
  (state: Account['state']): Action['run'] =>
  async ({ users }, _given, [idOrEmail = '']) => {
    const { id } = await find(users, idOrEmail)
    const user = unwrap(await users.setUserState({ id, state }))
    const line =
      state === 'active'
        ? `Enabled ${user.email}`
        : `Disabled ${user.email}: its sessions are closed and its keys are rejected`
    return { json: toJson(user), lines: [line] }
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
        limits === null ? 'default' : 'custom',
        new Date(createdAt).toISOString().slice(0, 10),
      ])
      return {
        json: all.map(toJson),
        lines:
          all.length === 0
            ? ['No accounts found']
            : [
                ...formatTable([['ID', 'EMAIL', 'STATE', 'ROLE', 'LIMITS', 'CREATED'].map(style.faint), ...rows]),
                ...findEmailProblems(all).map(({ id, email, problem }) =>
                  problem === 'invalid'
                    ? `${id}: the address ${email} is not valid, so nobody can log in with it`
                    : `${id}: the address ${email} looks like the one of another account. Check whose it is`,
                ),
              ],
      }
    },
  },
  invite: {
    needs: [],
    optional: 'EMAIL',
    takes: ['days'],
    run: async ({ users, siteUrl }, given, [email]) => {
      const days = readWholeNumber('--days', given.text('days'), { min: 1, max: 30 }) ?? 7
      const { invite, text } = unwrap(
        await users.inviteUser({ ...(email === undefined ? {} : { email }), validMs: days * dayMs }),
      )
      const url = `${siteUrl}/sign-up#${text}${email === undefined ? '' : `&email=${encodeURIComponent(email)}`}`
      const expiresAt = new Date(invite.expiresAt).toISOString()
      return {
        json: { id: invite.id, email: invite.email, url, expiresAt },
        lines: [`Sign-up link${email === undefined ? '' : ` for ${email}`}, valid once, until ${expiresAt}:`, url],
      }
    },
  },
  disable: { needs: ['EMAIL'], takes: [], run: setState('disabled') },
  enable: { needs: ['EMAIL'], takes: [], run: setState('active') },
  role: {
    needs: ['EMAIL', 'ROLE'],
    takes: [],
    run: async ({ users }, _given, [idOrEmail = '', role = '']) => {
      if (role !== 'user' && role !== 'operator') throw wrongUsage('the role must be user or operator')
      const { id } = await find(users, idOrEmail)
      const user = unwrap(await users.setUserRole({ id, role }))
      return { json: toJson(user), lines: [`${user.email} is now ${role === 'user' ? 'a user' : 'an operator'}`] }
    },
  },
  'reset-password': {
    needs: ['EMAIL'],
    takes: [],
    run: async ({ users, siteUrl }, _given, [idOrEmail = '']) => {
      const { id, email } = await find(users, idOrEmail)
      const { text, expiresAt } = unwrap(await users.resetLink({ id }))
      const url = `${siteUrl}/reset-password#${text}`
      const until = new Date(expiresAt).toISOString()
      return {
        json: { id, email, url, expiresAt: until },
        lines: [
          `Password reset link for ${email}, valid once, until ${until}. The old password works until it is used:`,
          url,
        ],
      }
    },
  },
  'reset-second-factor': {
    needs: ['EMAIL'],
    takes: [],
    run: async ({ users }, _given, [idOrEmail = '']) => {
      const { id } = await find(users, idOrEmail)
      const user = unwrap(await users.resetSecondFactor({ id }))
      return {
        json: toJson(user),
        lines: [`Removed the second factors of ${user.email}, and ended its sessions. The password is the same`],
      }
    },
  },
  limits: {
    needs: ['EMAIL'],
    takes: ['per-second', 'burst', 'per-day', 'per-month', 'default'],
    run: async ({ users }, given, [idOrEmail = '']) => {
      const user = await find(users, idOrEmail)
      const burst = readWholeNumber('--burst', given.text('burst'), { min: 1, max: 1_000_000 })
      const options = {
        perSecond: readLimit(given, 'per-second'),
        burst,
        perDay: readLimit(given, 'per-day'),
        perMonth: readLimit(given, 'per-month'),
      }
      const changed = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
      const isDefault = given.flag('default')
      if (isDefault && Object.keys(changed).length > 0)
        throw wrongUsage('--default cannot be combined with limits', 'leave one of them out')
      const limits = isDefault ? null : { ...user.limits, ...changed }
      const updated =
        isDefault || Object.keys(changed).length > 0 ? unwrap(await users.setUserLimits({ id: user.id, limits })) : user
      const rows = Object.entries(updated.limits ?? {}).map(([name, value]) => [
        `  ${name}`,
        value === null ? 'none' : JSON.stringify(value),
      ])
      const keepsBurst = typeof changed['perSecond'] === 'number' && updated.limits?.['burst'] === undefined
      return {
        json: toJson(updated),
        lines:
          rows.length === 0
            ? [`${updated.email} has the default limits of the service`]
            : [
                `${updated.email} has these limits, and the defaults of the service for the rest:`,
                ...formatTable(rows),
                ...(keepsBurst ? ['The burst did not change: set --burst N to limit how many may arrive at once'] : []),
              ],
      }
    },
  },
}

const actionOptions = ['search', 'days', 'per-second', 'burst', 'per-day', 'per-month', 'default']

/**
 * `keyrail users …`: manages accounts, in the database of a service that may be running.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for invalid usage or config; 1 if the change was rejected.
 */
export async function users(given: ReadArguments): Promise<number> {
  const [name, ...words] = given.positionals
  const names = Object.keys(actions)
  if (name === undefined)
    throw wrongUsage(`keyrail users needs an action: ${names.join(', ')}`, 'see keyrail users --help')
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action === undefined) {
    const meant = findNearestName(name, names)
    throw wrongUsage(
      `unknown action keyrail users ${name}`,
      `${meant === undefined ? '' : `did you mean ${meant}? `}The actions are ${names.join(', ')}`,
    )
  }
  const { needs, optional } = action
  if (words.length < needs.length || words.length > needs.length + (optional === undefined ? 0 : 1)) {
    const usage = [...needs, ...(optional === undefined ? [] : [`[${optional}]`])].join(' ')
    throw wrongUsage(`keyrail users ${name} takes ${usage === '' ? 'no arguments' : usage}`)
  }
  const unsupported = actionOptions.find(
    (option) => !action.takes.includes(option) && (given.text(option) !== undefined || given.flag(option)),
  )
  if (unsupported !== undefined) throw wrongUsage(`keyrail users ${name} has no option --${unsupported}`)

  const file = getConfigFile(given)
  return withConfig(file, async () => {
    const tools = await openOperatorTools(file)
    try {
      const { json, lines } = await action.run(tools, given, words)
      // The output may be a link, which must not be masked.
      await printData(given.flag('json') ? JSON.stringify(json) : lines.join('\n'))
      return exitCodes.ok
    } finally {
      await tools.close()
    }
  })
}
