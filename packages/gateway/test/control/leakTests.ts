import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RouteName } from '../../src/control/contract/routeName.ts'
import { routeNames } from '../../src/control/routes.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import type { TestDatabase } from '../storage/databases.ts'
import { validInputs } from './validInputs.ts'
import { startControl } from './startControl.ts'
import type { Login, Sent, StartedControl } from './startControl.ts'
import { createFixture, newPem, password, signUpOperator } from './accountFixture.ts'
import type { AccountFixture } from './accountFixture.ts'

/** The encodings in which a secret could appear in a text. */
const encodings = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
]
const findLeaks = (text: string, secrets: readonly string[]): readonly string[] =>
  [...new Set(secrets)].filter((secret) => encodings(secret).some((encoded) => text.includes(encoded)))

/** The routes whose response is a secret, and the secret. */
const revealing: Partial<Record<RouteName, (fixture: AccountFixture) => readonly string[]>> = {
  'POST /api/apps/{appId}/key/reveal': ({ appKey }) => [appKey],
  'POST /api/keys/{keyId}/reveal': ({ apiKey }) => [apiKey],
}

/**
 * Searches responses, logs and files for secrets.
 */
export const testLeaks = (database: TestDatabase): void => {
  describe(`secrets on ${database.name}`, () => {
    let control: StartedControl
    let file = ''
    beforeAll(async () => {
      const observed: Pick<TestDatabase, 'create'> = {
        create: async () => {
          const options = await database.create()
          if ('file' in options) file = options.file
          return options
        },
      }
      control = await startControl(observed)
    })
    afterAll(async () => {
      await control.close()
      await database.stop()
    })

    test('appear only in the response that reveals them, not in logs, the audit log or files', async () => {
      const { privatePem } = newPem()
      const privateLines = privatePem.split('\n').filter((line) => line.length > 20 && !line.startsWith('---'))
      const operator = await signUpOperator(control)
      const all = [control.operatorToken, password, ...privateLines]
      const shown: string[] = []

      let fixture = await createFixture(control)
      for (const [index, name] of routeNames.entries()) {
        // A fixture can be reused after a read.
        if (index > 0 && !routeNames[index - 1]?.startsWith('GET')) fixture = await createFixture(control)
        const { user, appKey, apiKey, token, link, logInLink } = fixture
        const cookie = 'cookie' in user.as ? (user.as.cookie.split('=')[1] ?? '') : ''
        const secrets = [
          appKey,
          apiKey,
          token.bearer,
          cookie,
          link,
          logInLink,
          ...[appKey, apiKey, token.bearer, cookie].map(hashApiKey),
        ]
        all.push(...secrets)
        const { params, query, body } = validInputs[name](fixture) as Sent<RouteName> & Record<string, object>
        // Secrets pasted into the wrong field must not be repeated.
        const wrong = [appKey, apiKey, token.bearer, password, privatePem].flatMap((secret) => [
          { [secret]: secret },
          { ...body, name: secret, value: secret, pem: privatePem, token: secret, type: secret, extra: { secret } },
          secret,
        ])
        const send = (as: Login | undefined, sent: unknown) =>
          control.call(name, { params, query, body: sent, as } as Sent<RouteName>)
        const before = control.seen.length
        const own = name.includes('/admin/') ? operator.as : user.as
        if (body !== undefined) for (const sent of wrong) await send(own, sent)
        for (const as of [undefined, token, { bearer: appKey }, own]) await send(as, body)
        const responses = control.seen.slice(before).join('\n')
        const allowed = revealing[name]?.(fixture) ?? []
        shown.push(...allowed)
        expect([
          name,
          findLeaks(
            responses,
            [...secrets, password, ...privateLines].filter((one) => !allowed.includes(one)),
          ),
        ]).toEqual([name, []])
        // Proves that the search finds secrets.
        if (allowed.length > 0) expect(findLeaks(responses, allowed)).toEqual(allowed)
      }

      const logs = `${JSON.stringify(control.logs)}${inspect(control.logs, { depth: Infinity })}`
      expect(control.logs.length).toBeGreaterThan(routeNames.length)
      expect(findLeaks(logs, all)).toEqual([])
      const entries = await control.storage.auditLog.list({ limit: 100_000 })
      expect(entries.length).toBeGreaterThan(routeNames.length)
      expect(findLeaks(JSON.stringify(entries), all)).toEqual([])
      expect(shown).toHaveLength(2)
      if (file === '') return
      const folder = dirname(file)
      const written = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
      expect(written.join('').length).toBeGreaterThan(100_000)
      // Only hashes are stored there, as bytes.
      expect(findLeaks(written.join('\n'), all)).toEqual([])
    }, 300_000)
  })
}
