import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import type { Action } from './action.ts'
import type { ControlApiClient } from './controlApi.ts'
import { describeOldKey } from './keyDetails.ts'
import type { KeyFacts } from './keyDetails.ts'
import { checkKeyOutput, outputKey, keyOptions } from './outputKey.ts'
import type { Made } from './outputKey.ts'
import { readRotation } from './readRotation.ts'

interface Named {
  readonly id: string
  readonly name: string
}

/** How something that has a key is asked for: an app, or an API key itself. */
export interface KeyHolders<View extends Named> {
  /** @param who - Its id or its name. */
  readonly find: (ask: ControlApiClient, who: string) => Promise<View>
  readonly shown: (view: View) => readonly string[]
  readonly keyOf: (view: View) => KeyFacts
  readonly reveal: (ask: ControlApiClient, id: string) => Promise<Made['secret']>
  readonly rotate: (
    ask: ControlApiClient,
    id: string,
    body: ReturnType<typeof readRotation>,
  ) => Promise<{ readonly view: View; readonly json: Made['json']; readonly secret: Made['secret'] }>
  readonly dropOld: (ask: ControlApiClient, id: string) => Promise<View>
}

/** What is done to a key alike, whatever has it. */
export const keyActions = <View extends Named>(
  of: KeyHolders<View>,
): Readonly<Record<'show' | 'reveal' | 'rotate' | 'drop-old', Action>> => ({
  show: {
    needs: ['ID|NAME'],
    takes: [],
    run: async ({ ask, words: [who = ''] }) => {
      const view = await of.find(ask, who)
      return { json: view, lines: of.shown(view) }
    },
  },
  reveal: {
    needs: ['ID|NAME'],
    takes: ['key-file'],
    byPerson: true,
    run: async ({ given, ask, words: [who = ''] }) => {
      const { id, name } = await of.find(ask, who)
      return outputKey(given, {
        replaces: false,
        make: async () => {
          const secret = await of.reveal(ask, id)
          return {
            json: { id },
            secret,
            lines: [`The key of ${stripControlCharacters(name)}; the audit log has a line of it`],
          }
        },
      })
    },
  },
  rotate: {
    needs: ['ID|NAME'],
    takes: ['grace', 'expires', ...keyOptions],
    check: (given) => {
      readRotation(given)
      checkKeyOutput(given)
    },
    run: async ({ given, ask, words: [who = ''] }) => {
      const { id } = await of.find(ask, who)
      return outputKey(given, {
        replaces: true,
        make: async () => {
          const { view, json, secret } = await of.rotate(ask, id, readRotation(given))
          return {
            json,
            secret,
            lines: [`${stripControlCharacters(view.name)} has a new key. ${describeOldKey(of.keyOf(view))}`],
          }
        },
      })
    },
  },
  'drop-old': {
    needs: ['ID|NAME'],
    takes: [],
    run: async ({ ask, words: [who = ''] }) => {
      const { id } = await of.find(ask, who)
      const view = await of.dropOld(ask, id)
      return { json: view, lines: [`Of ${stripControlCharacters(view.name)} only the newest key works.`] }
    },
  },
})
