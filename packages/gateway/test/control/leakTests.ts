import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RouteName } from '../../src/control/contract/route.ts'
import { routeNames } from '../../src/control/contract/routes.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import type { TestDatabase } from '../storage/databases.ts'
import { goodInputs } from './goodInputs.ts'
import { startControl } from './startControl.ts'
import type { Login, Sent, StartedControl } from './startControl.ts'
import { createWorld, newPem, password, signUpOperator } from './world.ts'
import type { World } from './world.ts'

/** Every form in which a secret could be found in a text. */
const forms = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
]
const foundIn = (text: string, secrets: readonly string[]): readonly string[] =>
  [...new Set(secrets)].filter((secret) => forms(secret).some((form) => text.includes(form)))

/** The routes whose very answer is a secret, and which. */
const shows: Partial<Record<RouteName, (world: World) => readonly string[]>> = {
  'POST /api/apps/{appId}/key/reveal': ({ appKey }) => [appKey],
  'POST /api/keys/{keyId}/reveal': ({ apiKey }) => [apiKey],
}

/**
 * Looks for secrets in responses, logs and files.
 */
export const testLeaks = (database: TestDatabase): void => {
  describe(`on ${database.name} nothing secret`, () => {
    let control: StartedControl
    let file = ''
    beforeAll(async () => {
      const spied: Pick<TestDatabase, 'create'> = {
        create: async () => {
          const options = await database.create()
          if ('file' in options) file = options.file
          return options
        },
      }
      control = await startControl(spied)
    })
    afterAll(async () => {
      await control.close()
      await database.stop()
    })

    test('is in any answer but the one that was asked for, in a log, in the audit log or in the files', async () => {
      const { privatePem } = newPem()
      const privateLines = privatePem.split('\n').filter((line) => line.length > 20 && !line.startsWith('---'))
      const operator = await signUpOperator(control)
      const kept = [control.operatorToken, password, ...privateLines]
      const shown: string[] = []

      let world = await createWorld(control)
      for (const [index, name] of routeNames.entries()) {
        // What only reads leaves everything as it is.
        if (index > 0 && !routeNames[index - 1]?.startsWith('GET')) world = await createWorld(control)
        const { person, appKey, apiKey, token, link } = world
        const cookie = 'cookie' in person.as ? (person.as.cookie.split('=')[1] ?? '') : ''
        const secrets = [
          appKey,
          apiKey,
          token.bearer,
          cookie,
          link,
          ...[appKey, apiKey, token.bearer, cookie].map(hashApiKey),
        ]
        kept.push(...secrets)
        const { params, query, body } = goodInputs[name](world) as Sent<RouteName> & Record<string, object>
        // What was meant for another field, or another service, is repeated by none.
        const wrong = [appKey, apiKey, token.bearer, password, privatePem].flatMap((secret) => [
          { [secret]: secret },
          { ...body, name: secret, value: secret, pem: privatePem, token: secret, type: secret, extra: { secret } },
          secret,
        ])
        const send = (as: Login | undefined, sent: unknown) =>
          control.call(name, { params, query, body: sent, as } as Sent<RouteName>)
        const before = control.seen.length
        const own = name.includes('/admin/') ? operator.as : person.as
        if (body !== undefined) for (const sent of wrong) await send(own, sent)
        for (const as of [undefined, token, { bearer: appKey }, own]) await send(as, body)
        const answers = control.seen.slice(before).join('\n')
        const allowed = shows[name]?.(world) ?? []
        shown.push(...allowed)
        expect([
          name,
          foundIn(
            answers,
            [...secrets, password, ...privateLines].filter((one) => !allowed.includes(one)),
          ),
        ]).toEqual([name, []])
        // The test can fail: what may be shown is.
        if (allowed.length > 0) expect(foundIn(answers, allowed)).toEqual(allowed)
      }

      const logs = `${JSON.stringify(control.logs)}${inspect(control.logs, { depth: Infinity })}`
      expect(control.logs.length).toBeGreaterThan(routeNames.length)
      expect(foundIn(logs, kept)).toEqual([])
      const entries = await control.storage.auditLog.list({ limit: 100_000 })
      expect(entries.length).toBeGreaterThan(routeNames.length)
      expect(foundIn(JSON.stringify(entries), kept)).toEqual([])
      expect(shown).toHaveLength(2)
      if (file === '') return
      const folder = dirname(file)
      const written = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
      expect(written.join('').length).toBeGreaterThan(100_000)
      // Hashes are what is stored there: of them alone it holds the bytes, and no text.
      expect(foundIn(written.join('\n'), kept)).toEqual([])
    }, 300_000)
  })
}
