import type { ApiKeyView } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, wrongUsage } from '../cliError.ts'
import type { Actions } from '../control/action.ts'
import type { ControlApiClient } from '../control/controlApi.ts'
import { confirm } from '../control/confirm.ts'
import { findNetworks, readNetworkNames } from '../control/networks.ts'
import { keyActions } from '../control/keyActions.ts'
import { formatKeyDetails, formatKeyState } from '../control/keyDetails.ts'
import { checkKeyOutput, outputKey, keyOptions } from '../control/outputKey.ts'
import { readExpiry } from '../control/readExpiry.ts'
import { listNames } from '../control/listNames.ts'
import { runAction } from '../control/runAction.ts'
import { formatTable } from '../output/formatTable.ts'
import { getStyle } from '../output/style.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'

async function find(api: ControlApiClient, idOrName: string): Promise<ApiKeyView> {
  if (/^key_[0-9a-z]{20}$/.test(idOrName)) return api('GET /api/keys/{keyId}', { params: { keyId: idOrName } })
  const { items } = await api('GET /api/keys', {})
  const [first, ...more] = items.filter(({ name }) => name === idOrName)
  if (first === undefined) throw new CliError('no API key has this name', { hint: 'run keyrail keys list to see all' })
  if (more.length > 0) {
    const ids = [first, ...more].map(({ id }) => id).join(', ')
    throw new CliError('several API keys have this name', { hint: `use an id: ${ids}` })
  }
  return first
}

const format = (key: ApiKeyView): string[] => {
  const style = getStyle(process.stdout)
  return formatTable([
    ['id', key.id],
    ['name', stripControlCharacters(key.name)],
    ...(key.description === '' ? [] : [['description', stripControlCharacters(key.description)]]),
    ['network', key.network],
    ['URL', stripControlCharacters(key.url)],
    ...formatKeyDetails(key, style),
  ])
}

const actions: Actions = {
  list: {
    needs: [],
    takes: ['names'],
    run: async ({ given, api }) => {
      const { items, max } = await api('GET /api/keys', {})
      if (given.flag('names')) return listNames(items)
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
          `${items.length} of ${max} API keys used`,
        ],
      }
    },
  },
  create: {
    needs: ['NAME'],
    takes: ['network', 'description', 'expires', ...keyOptions],
    check: (given) => {
      const names = readNetworkNames(given)
      if (names === undefined) {
        throw wrongUsage('an API key needs a network', 'add --network NAME; run keyrail networks to list them')
      }
      if (names.length > 1) throw wrongUsage('an API key has one network', 'create one key for each network')
      readExpiry(given.text('expires'))
      checkKeyOutput(given)
    },
    run: ({ given, api, words: [name = ''] }) =>
      outputKey(given, {
        replaces: false,
        request: async () => {
          const [network = ''] = await findNetworks(api, readNetworkNames(given) ?? [])
          const expiresAt = readExpiry(given.text('expires'))
          const description = given.text('description')
          const { key, ...secret } = await api('POST /api/keys', {
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
            lines: [`Created ${stripControlCharacters(key.name)} on ${key.network}: ${key.id}`],
          }
        },
      }),
  },
  ...keyActions({
    find,
    format,
    getKey: (key) => key,
    reveal: (api, keyId) => api('POST /api/keys/{keyId}/reveal', { params: { keyId }, body: {} }),
    rotate: async (api, keyId, body) => {
      const { key, ...secret } = await api('POST /api/keys/{keyId}/rotate', { params: { keyId }, body })
      return { view: key, json: { key }, secret }
    },
    dropOld: (api, keyId) => api('DELETE /api/keys/{keyId}/old', { params: { keyId } }),
  }),
  revoke: {
    needs: ['ID|NAME'],
    takes: ['yes'],
    run: async ({ given, api, words: [idOrName = ''] }) => {
      const { id, name } = await find(api, idOrName)
      const shownName = stripControlCharacters(name)
      await confirm(given, { verb: 'revoke', name, shownName })
      const key = await api('POST /api/keys/{keyId}/revoke', { params: { keyId: id } })
      return {
        json: key,
        lines: [`Revoked ${shownName}: its key no longer works`],
      }
    },
  },
}

/**
 * `keyrail keys …`: manages API keys through the control API of a service.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for invalid usage; 1 if the service rejects the request; 3 without a response.
 */
export function keys(given: ReadArguments): Promise<number> {
  return runAction('keys', actions, given)
}
