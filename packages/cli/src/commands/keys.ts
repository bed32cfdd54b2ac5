import type { ApiKeyView } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, wrongUsage } from '../cliError.ts'
import type { Actions } from '../control/action.ts'
import type { ControlApiClient } from '../control/controlApi.ts'
import { confirm } from '../control/confirm.ts'
import { keyActions } from '../control/keyActions.ts'
import { formatKeyDetails, formatKeyState } from '../control/keyDetails.ts'
import { checkKeyOutput, outputKey, keyOptions } from '../control/outputKey.ts'
import { readExpiry } from '../control/readExpiry.ts'
import { runAction } from '../control/runAction.ts'
import { formatTable } from '../output/formatTable.ts'
import { getStyle } from '../output/style.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import { readNetwork } from './endpoint.ts'

async function find(ask: ControlApiClient, who: string): Promise<ApiKeyView> {
  if (/^key_[0-9a-z]{20}$/.test(who)) return ask('GET /api/keys/{keyId}', { params: { keyId: who } })
  const { items } = await ask('GET /api/keys', {})
  const [first, ...more] = items.filter(({ name }) => name === who)
  if (first === undefined) throw new CliError('there is no API key of this name', { hint: 'see keyrail keys list' })
  if (more.length > 0) {
    const ids = [first, ...more].map(({ id }) => id).join(', ')
    throw new CliError('several API keys have this name', { hint: `give an id: ${ids}` })
  }
  return first
}

const shown = (key: ApiKeyView): string[] => {
  const style = getStyle(process.stdout)
  return formatTable([
    ['id', key.id],
    ['name', stripControlCharacters(key.name)],
    ...(key.description === '' ? [] : [['description', stripControlCharacters(key.description)]]),
    ['network', key.network],
    ['address', stripControlCharacters(key.address)],
    ...formatKeyDetails(key, style),
  ])
}

const actions: Actions = {
  list: {
    needs: [],
    takes: [],
    run: async ({ ask }) => {
      const { items, max } = await ask('GET /api/keys', {})
      const style = getStyle(process.stdout)
      const rows = items.map((key) => [
        key.id,
        stripControlCharacters(key.name),
        key.network,
        `…${key.ending}`,
        formatKeyState(key, style),
        key.expiresAt ?? 'never',
      ])
      const head = ['ID', 'NAME', 'NETWORK', 'KEY', 'STATE', 'EXPIRES'].map(style.faint)
      return {
        json: { items, max },
        lines: [
          ...(rows.length === 0 ? [] : [...formatTable([head, ...rows]), '']),
          `${items.length} of at most ${max} API keys`,
        ],
      }
    },
  },
  create: {
    needs: ['NAME'],
    takes: ['network', 'description', 'expires', ...keyOptions],
    check: (given) => {
      if (readNetwork(given.text('network')) === undefined) {
        throw wrongUsage('an API key is of one network', 'add --network testnet or mainnet')
      }
      readExpiry(given.text('expires'))
      checkKeyOutput(given)
    },
    run: ({ given, ask, words: [name = ''] }) =>
      outputKey(given, {
        replaces: false,
        make: async () => {
          const network = readNetwork(given.text('network')) ?? 'testnet'
          const expiresAt = readExpiry(given.text('expires'))
          const description = given.text('description')
          const { key, ...secret } = await ask('POST /api/keys', {
            body: {
              name,
              network,
              ...(description === undefined ? {} : { description }),
              ...(expiresAt === undefined ? {} : { expiresAt }),
            },
          })
          return {
            json: { key },
            secret,
            lines: [`${stripControlCharacters(key.name)} is made, of ${key.network}: ${key.id}`],
          }
        },
      }),
  },
  ...keyActions({
    find,
    shown,
    keyOf: (key) => key,
    reveal: (ask, keyId) => ask('POST /api/keys/{keyId}/reveal', { params: { keyId }, body: {} }),
    rotate: async (ask, keyId, body) => {
      const { key, ...secret } = await ask('POST /api/keys/{keyId}/rotate', { params: { keyId }, body })
      return { view: key, json: { key }, secret }
    },
    dropOld: (ask, keyId) => ask('DELETE /api/keys/{keyId}/old', { params: { keyId } }),
  }),
  revoke: {
    needs: ['ID|NAME'],
    takes: ['yes'],
    run: async ({ given, ask, words: [who = ''] }) => {
      const { id, name } = await find(ask, who)
      await confirm(given, { done: `revoke ${stripControlCharacters(name)}`, name })
      const key = await ask('POST /api/keys/{keyId}/revoke', { params: { keyId: id } })
      return {
        json: key,
        lines: [`${stripControlCharacters(name)} is revoked: its key works no more, and its place is free`],
      }
    },
  },
}

/**
 * `keyrail keys …`: API keys, through the control API of a service.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for a wrong command line; 1 where it was rejected; 3 where no answer came.
 */
export function keys(given: ReadArguments): Promise<number> {
  return runAction('keys', actions, given)
}
