import type { AppView, ControlApi, UseCase } from '@keyrail/gateway'
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

async function listAll(ask: ControlApiClient, search: string | undefined): Promise<AppView[]> {
  const all: AppView[] = []
  for (let cursor: string | undefined; ;) {
    const query: ControlApi['GET /api/apps']['query'] = {
      limit: 100,
      ...(search === undefined ? {} : { search }),
      ...(cursor === undefined ? {} : { cursor }),
    }
    const { items, next } = await ask('GET /api/apps', { query })
    all.push(...items)
    if (next === null || items.length === 0) return all
    cursor = next
  }
}

async function find(ask: ControlApiClient, who: string): Promise<AppView> {
  if (/^app_[0-9a-z]{20}$/.test(who)) return ask('GET /api/apps/{appId}', { params: { appId: who } })
  const found = (await listAll(ask, who)).find(({ name }) => name.toLowerCase() === who.toLowerCase())
  if (found === undefined) throw new CliError('there is no app of this name', { hint: 'see keyrail apps list' })
  return found
}

function readUseCase(text: string | undefined, useCases: readonly UseCase[]): UseCase {
  if (text === undefined) return 'Other'
  const meant = useCases.find((one) => one.toLowerCase() === text.toLowerCase())
  if (meant === undefined) throw wrongUsage('--use-case is unknown', `it is one of ${useCases.join(', ')}`)
  return meant
}

const shown = (app: AppView): string[] =>
  formatTable([
    ['id', app.id],
    ['name', stripControlCharacters(app.name)],
    ...(app.description === '' ? [] : [['description', stripControlCharacters(app.description)]]),
    ['use case', app.useCase],
    ['chain', stripControlCharacters(app.chain)],
    ['services', app.services.join(', ') || 'none'],
    ...app.networks.map((network) => [network, stripControlCharacters(app.key.addresses[network])]),
    ['tokens', app.requireJwt ? 'each call must bring one' : 'not asked for'],
    ...formatKeyDetails(app.key, getStyle(process.stdout)),
  ])

const actions: Actions = {
  list: {
    needs: [],
    takes: ['search'],
    run: async ({ given, ask }) => {
      const items = await listAll(ask, given.text('search'))
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
        lines: rows.length === 0 ? ['There are no such apps.'] : formatTable([head, ...rows]),
      }
    },
  },
  create: {
    needs: ['NAME'],
    takes: ['use-case', 'network', 'description', 'expires', ...keyOptions],
    check: (given) => {
      readNetwork(given.text('network'))
      readExpiry(given.text('expires'))
      checkKeyOutput(given)
    },
    run: ({ given, ask, words: [name = ''] }) =>
      outputKey(given, {
        replaces: false,
        make: async () => {
          const { chain, services, useCases } = await ask('GET /api/deployment', {})
          const network = readNetwork(given.text('network'))
          const expiresAt = readExpiry(given.text('expires'))
          const description = given.text('description')
          const { app, ...secret } = await ask('POST /api/apps', {
            body: {
              name,
              useCase: readUseCase(given.text('use-case'), useCases),
              chain: chain.symbol,
              services,
              ...(network === undefined ? {} : { networks: [network] }),
              ...(description === undefined ? {} : { description }),
              ...(expiresAt === undefined ? {} : { expiresAt }),
            },
          })
          return { json: { app }, secret, lines: [`${stripControlCharacters(app.name)} is made: ${app.id}`] }
        },
      }),
  },
  ...keyActions({
    find,
    shown,
    keyOf: ({ key }) => key,
    reveal: (ask, appId) => ask('POST /api/apps/{appId}/key/reveal', { params: { appId }, body: {} }),
    rotate: async (ask, appId, body) => {
      const { app, ...secret } = await ask('POST /api/apps/{appId}/key/rotate', { params: { appId }, body })
      return { view: app, json: { app }, secret }
    },
    dropOld: (ask, appId) => ask('DELETE /api/apps/{appId}/key/old', { params: { appId } }),
  }),
  delete: {
    needs: ['ID|NAME'],
    takes: ['yes'],
    run: async ({ given, ask, words: [who = ''] }) => {
      const { id, name } = await find(ask, who)
      await confirm(given, { done: `delete ${stripControlCharacters(name)}`, name })
      await ask('POST /api/apps/{appId}/delete', { params: { appId: id }, body: { name } })
      return {
        json: { id, name, deleted: true },
        lines: [`${stripControlCharacters(name)} is deleted, with its key and its lists`],
      }
    },
  },
}

/**
 * `keyrail apps …`: apps, through the control API of a service.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for a wrong command line; 1 where it was rejected; 3 where no answer came.
 */
export function apps(given: ReadArguments): Promise<number> {
  return runAction('apps', actions, given)
}
