import type { AppView, ControlApi, UseCase } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { CliError, wrongUsage } from '../cliError.ts'
import type { Actions } from '../control/action.ts'
import type { ControlApiClient } from '../control/controlApi.ts'
import { confirm } from '../control/confirm.ts'
import { keyActions } from '../control/keyActions.ts'
import { formatKeyDetails, formatKeyState } from '../control/keyDetails.ts'
import { checkKeyOutput, outputKey, keyOptions } from '../control/outputKey.ts'
import { chooseChain, findNetworks, readNetworkNames } from '../control/networks.ts'
import { readExpiry } from '../control/readExpiry.ts'
import { listNames } from '../control/listNames.ts'
import { runAction } from '../control/runAction.ts'
import { formatTable } from '../output/formatTable.ts'
import { getStyle } from '../output/style.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'

async function listAll(api: ControlApiClient, search: string | undefined): Promise<AppView[]> {
  const all: AppView[] = []
  for (let cursor: string | undefined; ;) {
    const query: ControlApi['GET /api/apps']['query'] = {
      limit: 100,
      ...(search === undefined ? {} : { search }),
      ...(cursor === undefined ? {} : { cursor }),
    }
    const { items, next } = await api('GET /api/apps', { query })
    all.push(...items)
    if (next === null || items.length === 0) return all
    cursor = next
  }
}

async function find(api: ControlApiClient, idOrName: string): Promise<AppView> {
  if (/^app_[0-9a-z]{20}$/.test(idOrName)) return api('GET /api/apps/{appId}', { params: { appId: idOrName } })
  const found = (await listAll(api, idOrName)).find(({ name }) => name.toLowerCase() === idOrName.toLowerCase())
  if (found === undefined) throw new CliError('no app has this name', { hint: 'run keyrail apps list to see all' })
  return found
}

function readUseCase(text: string | undefined, useCases: readonly UseCase[]): UseCase {
  if (text === undefined) return 'Other'
  const meant = useCases.find((one) => one.toLowerCase() === text.toLowerCase())
  if (meant === undefined) throw wrongUsage(`unknown --use-case ${text}`, `use one of ${useCases.join(', ')}`)
  return meant
}

const format = (app: AppView): string[] =>
  formatTable([
    ['id', app.id],
    ['name', stripControlCharacters(app.name)],
    ...(app.description === '' ? [] : [['description', stripControlCharacters(app.description)]]),
    ['use case', app.useCase],
    ['chain', stripControlCharacters(app.chain)],
    ['services', app.services.join(', ') || 'none'],
    ...app.networks.map((network) => [network, stripControlCharacters(app.key.urls[network] ?? '')]),
    ['JWT', app.requireJwt ? 'required' : 'not required'],
    ...(app.confirmNodes === 0 ? [] : [['confirmed reads', `by ${app.confirmNodes} nodes`]]),
    ...formatKeyDetails(app.key, getStyle(process.stdout)),
  ])

const actions: Actions = {
  list: {
    needs: [],
    takes: ['search', 'names'],
    run: async ({ given, api }) => {
      const items = await listAll(api, given.text('search'))
      if (given.flag('names')) return listNames(items)
      const style = getStyle(process.stdout)
      const rows = items.map((app) => [
        app.id,
        stripControlCharacters(app.name),
        app.networks.join(', '),
        `…${app.key.ending}`,
        formatKeyState(app.key, style),
        app.key.expiresAt ?? 'never',
      ])
      const head = ['ID', 'NAME', 'NETWORKS', 'KEY', 'STATE', 'EXPIRES'].map(style.faint)
      return {
        json: { items },
        lines: rows.length === 0 ? ['No apps found'] : formatTable([head, ...rows]),
      }
    },
  },
  create: {
    needs: ['NAME'],
    takes: ['use-case', 'chain', 'network', 'description', 'expires', ...keyOptions],
    check: (given) => {
      readNetworkNames(given)
      readExpiry(given.text('expires'))
      checkKeyOutput(given)
    },
    run: ({ given, api, words: [name = ''] }) =>
      outputKey(given, {
        replaces: false,
        request: async () => {
          const deployment = await api('GET /api/deployment', {})
          const { services, useCases } = deployment
          const { chain, networks } = chooseChain(given, deployment)
          const expiresAt = readExpiry(given.text('expires'))
          const description = given.text('description')
          const { app, ...secret } = await api('POST /api/apps', {
            body: {
              name,
              useCase: readUseCase(given.text('use-case'), useCases),
              chain,
              services,
              ...(networks === undefined ? {} : { networks }),
              ...(description === undefined ? {} : { description }),
              ...(expiresAt === undefined ? {} : { expiresAt }),
            },
          })
          return { json: { app }, secret, lines: [`Created ${stripControlCharacters(app.name)}: ${app.id}`] }
        },
      }),
  },
  edit: {
    needs: ['ID|NAME'],
    takes: ['name', 'use-case', 'network', 'description'],
    check: (given) => {
      const names = readNetworkNames(given)
      const others = ['name', 'use-case', 'description'].map((option) => given.text(option))
      if ([names, ...others].every((value) => value === undefined))
        throw wrongUsage('nothing to change', 'add --name, --use-case, --network or --description')
    },
    run: async ({ given, api, words: [idOrName = ''] }) => {
      const { id, version } = await find(api, idOrName)
      const name = given.text('name')
      const description = given.text('description')
      const useCase = given.text('use-case')
      const networks = readNetworkNames(given)
      const app = await api('PATCH /api/apps/{appId}', {
        params: { appId: id },
        body: {
          version,
          ...(name === undefined ? {} : { name }),
          ...(description === undefined ? {} : { description }),
          ...(useCase === undefined
            ? {}
            : { useCase: readUseCase(useCase, (await api('GET /api/deployment', {})).useCases) }),
          ...(networks === undefined ? {} : { networks: await findNetworks(api, networks) }),
        },
      })
      return { json: app, lines: [`Changed ${stripControlCharacters(app.name)}`, ...format(app)] }
    },
  },
  ...keyActions({
    find,
    format,
    getKey: ({ key }) => key,
    reveal: (api, appId) => api('POST /api/apps/{appId}/key/reveal', { params: { appId }, body: {} }),
    rotate: async (api, appId, body) => {
      const { app, ...secret } = await api('POST /api/apps/{appId}/key/rotate', { params: { appId }, body })
      return { view: app, json: { app }, secret }
    },
    dropOld: (api, appId) => api('DELETE /api/apps/{appId}/key/old', { params: { appId } }),
  }),
  move: {
    needs: ['ID|NAME', 'ACCOUNT'],
    takes: [],
    needsPassword: true,
    run: async ({ api, words: [idOrName = '', accountId = ''] }) => {
      const { id, name } = await find(api, idOrName)
      await api('POST /api/apps/{appId}/transfer', { params: { appId: id }, body: { accountId } })
      return { json: { id, accountId }, lines: [`Moved ${stripControlCharacters(name)} to ${accountId}`] }
    },
  },
  delete: {
    needs: ['ID|NAME'],
    takes: ['yes'],
    run: async ({ given, api, words: [idOrName = ''] }) => {
      const { id, name } = await find(api, idOrName)
      const shownName = stripControlCharacters(name)
      await confirm(given, { verb: 'delete', name, shownName })
      await api('POST /api/apps/{appId}/delete', { params: { appId: id }, body: { name } })
      return {
        json: { id, name, deleted: true },
        lines: [`Deleted ${shownName}, its key and its allow lists`],
      }
    },
  },
}

/**
 * `keyrail apps …`: manages apps through the control API of a service.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for invalid usage; 1 if the service rejects the request; 3 without a response.
 */
export function apps(given: ReadArguments): Promise<number> {
  return runAction('apps', actions, given)
}
