import type { ControlApi } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import type { Action } from './action.ts'
import type { ControlApiClient } from './controlApi.ts'
import { describeOldKey } from './keyDetails.ts'
import type { KeyDetails } from './keyDetails.ts'
import { checkKeyOutput, keyOptions, outputKey } from './outputKey.ts'
import type { KeyResponse } from './outputKey.ts'
import { readExpiry } from './readExpiry.ts'

interface Named {
  readonly id: string
  readonly name: string
}

type Rotation = ControlApi['POST /api/keys/{keyId}/rotate']['body']

/** The control API calls for something that has a key: an app or an API key. */
export interface KeyHolder<View extends Named> {
  /** @param idOrName - Its id or its name. */
  readonly find: (api: ControlApiClient, idOrName: string) => Promise<View>
  readonly format: (view: View) => readonly string[]
  readonly getKey: (view: View) => KeyDetails
  readonly reveal: (api: ControlApiClient, id: string) => Promise<KeyResponse['secret']>
  readonly rotate: (
    api: ControlApiClient,
    id: string,
    body: Rotation,
  ) => Promise<{ readonly view: View; readonly json: KeyResponse['json']; readonly secret: KeyResponse['secret'] }>
  readonly dropOld: (api: ControlApiClient, id: string) => Promise<View>
}

/**
 * Reads the options of a rotation: `--grace`, in days, and `--expires`.
 *
 * @throws {CliError} exit code 2 for an invalid value.
 */
function readRotation(given: ReadArguments): Rotation {
  const graceDays = readWholeNumber('--grace', given.text('grace'), { min: 0, max: 7 })
  const expiresAt = readExpiry(given.text('expires'))
  return { ...(graceDays === undefined ? {} : { graceDays }), ...(expiresAt === undefined ? {} : { expiresAt }) }
}

/** The actions that apps and API keys share. */
export const keyActions = <View extends Named>(
  holder: KeyHolder<View>,
): Readonly<Record<'show' | 'reveal' | 'rotate' | 'drop-old', Action>> => ({
  show: {
    needs: ['ID|NAME'],
    takes: [],
    run: async ({ api, words: [idOrName = ''] }) => {
      const view = await holder.find(api, idOrName)
      return { json: view, lines: holder.format(view) }
    },
  },
  reveal: {
    needs: ['ID|NAME'],
    takes: ['key-file'],
    needsPassword: true,
    run: async ({ given, api, words: [idOrName = ''] }) => {
      const { id, name } = await holder.find(api, idOrName)
      return outputKey(given, {
        replaces: false,
        request: async () => {
          const secret = await holder.reveal(api, id)
          const shownName = stripControlCharacters(name)
          return { json: { id }, secret, lines: [`Revealed the key of ${shownName}, and recorded it in the audit log`] }
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
    run: async ({ given, api, words: [idOrName = ''] }) => {
      const { id } = await holder.find(api, idOrName)
      return outputKey(given, {
        replaces: true,
        request: async () => {
          const { view, json, secret } = await holder.rotate(api, id, readRotation(given))
          const shownName = stripControlCharacters(view.name)
          return { json, secret, lines: [`Rotated the key of ${shownName}. ${describeOldKey(holder.getKey(view))}`] }
        },
      })
    },
  },
  'drop-old': {
    needs: ['ID|NAME'],
    takes: [],
    run: async ({ api, words: [idOrName = ''] }) => {
      const { id } = await holder.find(api, idOrName)
      const view = await holder.dropOld(api, id)
      return { json: view, lines: [`Only the newest key of ${stripControlCharacters(view.name)} works now`] }
    },
  },
})
