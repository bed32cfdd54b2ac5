import { visible } from '../output/visible.ts'
import type { Action } from './action.ts'
import type { AskControl } from './askControl.ts'
import { oldKeySentence } from './keyWords.ts'
import type { KeyFacts } from './keyWords.ts'
import { checkKeyTarget, keepNewKey, keyOptions } from './newKey.ts'
import type { Made } from './newKey.ts'
import { readRotation } from './readRotation.ts'

interface Named {
  readonly id: string
  readonly name: string
}

/** How something that has a key is asked for: an app, or an API key itself. */
export interface KeyHolders<View extends Named> {
  /** @param who - Its id or its name. */
  readonly find: (ask: AskControl, who: string) => Promise<View>
  readonly shown: (view: View) => readonly string[]
  readonly keyOf: (view: View) => KeyFacts
  readonly reveal: (ask: AskControl, id: string) => Promise<Made['secret']>
  readonly rotate: (
    ask: AskControl,
    id: string,
    body: ReturnType<typeof readRotation>,
  ) => Promise<{ readonly view: View; readonly json: Made['json']; readonly secret: Made['secret'] }>
  readonly dropOld: (ask: AskControl, id: string) => Promise<View>
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
      return keepNewKey(given, {
        replaces: false,
        make: async () => {
          const secret = await of.reveal(ask, id)
          return { json: { id }, secret, lines: [`The key of ${visible(name)}; the audit log has a line of it`] }
        },
      })
    },
  },
  rotate: {
    needs: ['ID|NAME'],
    takes: ['grace', 'expires', ...keyOptions],
    check: (given) => {
      readRotation(given)
      checkKeyTarget(given)
    },
    run: async ({ given, ask, words: [who = ''] }) => {
      const { id } = await of.find(ask, who)
      return keepNewKey(given, {
        replaces: true,
        make: async () => {
          const { view, json, secret } = await of.rotate(ask, id, readRotation(given))
          return { json, secret, lines: [`${visible(view.name)} has a new key. ${oldKeySentence(of.keyOf(view))}`] }
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
      return { json: view, lines: [`Of ${visible(view.name)} only the newest key works.`] }
    },
  },
})
