import type { MemberRole, MemberView } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, wrongUsage } from '../cliError.ts'
import type { Actions } from '../control/action.ts'
import { confirm } from '../control/confirm.ts'
import type { ControlApiClient } from '../control/controlApi.ts'
import { runAction } from '../control/runAction.ts'
import { formatTable } from '../output/formatTable.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import { getStyle } from '../output/style.ts'

const roles: readonly MemberRole[] = ['owner', 'admin', 'developer', 'viewer']

function readRole(text: string | undefined): MemberRole {
  const role = roles.find((one) => one === text)
  if (role === undefined) throw wrongUsage('the role is missing or unknown', `use one of ${roles.join(', ')}`)
  return role
}

const switches: Readonly<Record<string, boolean>> = { on: true, off: false }

function readSwitch(text: string): boolean {
  const isOn = Object.hasOwn(switches, text) ? switches[text] : undefined
  if (isOn === undefined) throw wrongUsage('the setting is missing or unknown', 'use on or off')
  return isOn
}

function requireAccount(given: ReadArguments): void {
  if (given.text('account') === undefined)
    throw wrongUsage('the team is missing', 'add --account ID: the dashboard shows the id under Account → Members')
}

async function find(api: ControlApiClient, idOrEmail: string): Promise<MemberView> {
  const { items } = await api('GET /api/members', {})
  const found = items.find(
    ({ userId, email }) => userId === idOrEmail || email.toLowerCase() === idOrEmail.toLowerCase(),
  )
  if (found === undefined)
    throw new CliError('no member has this id or email address', { hint: 'run keyrail members list to see all' })
  return found
}

const actions: Actions = {
  list: {
    needs: [],
    takes: [],
    run: async ({ api }) => {
      const { items } = await api('GET /api/members', {})
      const style = getStyle(process.stdout)
      const rows = items.map(({ userId, email, role, createdAt }) => [
        userId,
        stripControlCharacters(email),
        role,
        createdAt.slice(0, 10),
      ])
      return { json: { items }, lines: formatTable([['ID', 'EMAIL', 'ROLE', 'SINCE'].map(style.faint), ...rows]) }
    },
  },
  invite: {
    needs: ['EMAIL'],
    takes: ['role', 'send'],
    check: (given) => void readRole(given.text('role')),
    run: async ({ given, api, words: [email = ''] }) => {
      const send = given.flag('send')
      const { invite, url } = await api('POST /api/members/invites', {
        body: { email, role: readRole(given.text('role')), ...(send ? { send } : {}) },
      })
      const shown = stripControlCharacters(invite.email)
      return {
        json: { invite, url },
        lines: send
          ? [`Sent an invite to ${shown}, valid once, until ${invite.expiresAt}`]
          : [`Link for ${shown}, valid once, until ${invite.expiresAt}:`, url],
      }
    },
  },
  invites: {
    needs: [],
    takes: [],
    run: async ({ api }) => {
      const { items } = await api('GET /api/members/invites', {})
      const style = getStyle(process.stdout)
      const rows = items.map(({ id, email, role, expiresAt }) => [id, stripControlCharacters(email), role, expiresAt])
      return {
        json: { items },
        lines:
          rows.length === 0
            ? ['No open invites']
            : formatTable([['ID', 'EMAIL', 'ROLE', 'EXPIRES'].map(style.faint), ...rows]),
      }
    },
  },
  'revoke-invite': {
    needs: ['ID'],
    takes: [],
    run: async ({ api, words: [inviteId = ''] }) => {
      await api('DELETE /api/members/invites/{inviteId}', { params: { inviteId } })
      return { json: { id: inviteId }, lines: ['Revoked the invite'] }
    },
  },
  role: {
    needs: ['ID|EMAIL', 'ROLE'],
    takes: [],
    run: async ({ api, words: [idOrEmail = '', text] }) => {
      const role = readRole(text)
      const { userId, email } = await find(api, idOrEmail)
      await api('PUT /api/members/{userId}/role', { params: { userId }, body: { role } })
      return { json: { userId, role }, lines: [`${stripControlCharacters(email)} is now ${role}`] }
    },
  },
  remove: {
    needs: ['ID|EMAIL'],
    takes: ['yes'],
    run: async ({ given, api, words: [idOrEmail = ''] }) => {
      const { userId, email } = await find(api, idOrEmail)
      const shownName = stripControlCharacters(email)
      await confirm(given, { verb: 'remove', name: email, shownName })
      await api('POST /api/members/{userId}/remove', { params: { userId }, body: {} })
      return { json: { userId }, lines: [`Removed ${shownName}: the access tokens for this account no longer work`] }
    },
  },
  leave: {
    needs: [],
    takes: ['yes'],
    needsPassword: true,
    check: requireAccount,
    run: async ({ given, api }) => {
      const { id, name } = (await api('GET /api/session', {})).actingFor
      const shownName = stripControlCharacters(name)
      await confirm(given, { verb: 'leave', name, shownName })
      await api('POST /api/team/leave', { body: {} })
      return { json: { id }, lines: [`Left ${shownName}: your access tokens for it no longer work`] }
    },
  },
  'require-second-factor': {
    needs: ['on|off'],
    takes: [],
    needsPassword: true,
    check: (given) => {
      readSwitch(given.positionals[1] ?? '')
      requireAccount(given)
    },
    run: async ({ api, words: [text = ''] }) => {
      const membersNeedSecondFactor = readSwitch(text)
      const account = await api('PUT /api/team/rules', { body: { membersNeedSecondFactor } })
      const name = stripControlCharacters(account.name)
      return {
        json: account,
        lines: [
          membersNeedSecondFactor
            ? `Members of ${name} now need a second factor: without one, they have no access to the team`
            : `Members of ${name} no longer need a second factor`,
        ],
      }
    },
  },
}

/**
 * `keyrail members …`: manages the members of a team through the control API of a service.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for invalid usage; 1 if the service rejects the request; 3 without a response.
 */
export function members(given: ReadArguments): Promise<number> {
  return runAction('members', actions, given)
}
