import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOidcProvider } from '../oidc/startOidcProvider.ts'
import type { OidcProvider } from '../oidc/startOidcProvider.ts'
import { sqlite } from './places.ts'
import { startTestService } from './testService.ts'
import type { TestService } from './testService.ts'
import { createVisitor } from './visitor.ts'

let provider: OidcProvider
let service: TestService
beforeAll(async () => {
  service = await startTestService(sqlite)
  provider = await startOidcProvider({ redirectUri: `${service.url}/log-in/single-sign-on` })
})
afterAll(async () => {
  const { exitCode, stderr } = await service.close()
  await provider.close()
  expect([exitCode, stderr]).toEqual([0, ''])
})

test('a reload turns single sign-on on and passwords off; the log has a failure, and no secret', async () => {
  const { clientId, clientSecret, scopes, label } = provider.config
  writeFileSync(join(service.place.folder, 'client-secret'), `${clientSecret}\n`)
  service.change({
    oidc: { issuer: provider.issuer, clientId, clientSecretFile: 'client-secret', scopes, label },
    passwordLogin: false,
  })
  await service.process.logged('the reload', ({ event, state }) => event === 'config' && state === 'applied')
  const ann = createVisitor(service.url)
  expect(await ann.get('GET /api/deployment')).toMatchObject({ passwordLogin: false, singleSignOn: { label } })
  const email = 'ann.unusual@example.org'
  provider.user = { sub: 'subject.unusual', email, email_verified: true }
  const password = randomBytes(12).toString('base64url')
  expect((await ann.request('POST', '/api/account', { email, password })).status).toBe(403)

  const { url } = await ann.get('POST /api/session/single-sign-on')
  const back = await provider.visit(url)
  provider.fault = { at: '/token', status: 500 }
  const body = { response: back.search }
  expect((await ann.request('POST', '/api/session/single-sign-on/finish', body)).status).toBe(503)
  expect(await service.process.logged('the failure', ({ event }) => event === 'oidc')).toMatchObject({
    level: 'warn',
    step: 'finish',
    state: 'unavailable',
  })
  provider.fault = undefined
  const again = await ann.get('POST /api/session/single-sign-on')
  const { search } = await provider.visit(again.url)
  const { account } = await ann.get('POST /api/session/single-sign-on/finish', { body: { response: search } })
  expect(account).toMatchObject({ email, hasPassword: false })
  const { stdout } = service.process.printed()
  const codes = [back.search, search].map((one) => new URLSearchParams(one).get('code') ?? 'no code')
  for (const secret of [...codes, clientSecret, 'unusual']) expect(stdout).not.toContain(secret)
})
