import { describe, expect, test } from 'vitest'
import type { AlertsView, NewWebhookView, WebhookTestView } from '../../src/control/contract/controlApi.d.ts'
import { listWebhookSecrets } from '../../src/alerts/webhookSecret.ts'
import { openKey } from '../../src/lib/secrets/sealKey.ts'
import { suiteDatabases } from '../storage/databases.ts'
import { createFixture, expectBody, expectError, signUp, signUpOperator } from './accountFixture.ts'
import type { Login, StartedControl } from './startControl.ts'
import { useControl } from './useControl.ts'

describe.each(suiteDatabases)('the settings of alerts on $name', (database) => {
  let control: StartedControl
  useControl(database, (started) => (control = started))

  const getAlerts = async (as: Login): Promise<AlertsView> => expectBody(await control.call('GET /api/alerts', { as }))
  const addWebhook = async (as: Login): Promise<NewWebhookView> =>
    expectBody(
      await control.call('POST /api/alerts/webhooks', { as, body: { url: 'https://hooks.example.org/keyrail' } }),
      201,
    )
  const testWebhook = async (as: Login, webhookId: string): Promise<WebhookTestView> =>
    expectBody(await control.call('POST /api/alerts/webhooks/{webhookId}/test', { as, params: { webhookId } }))

  test('an account has no rules until it sets some, and audits them', async () => {
    const { as } = await signUp(control)
    expect((await getAlerts(as)).rules).toEqual({ errorPercent: null, latencyMs: null, minutes: 15, minCalls: 100 })
    const rules = { errorPercent: 5, latencyMs: 800, minutes: 10, minCalls: 50 }
    const set = await control.call('PUT /api/alerts/rules', { as, body: rules })
    expect(expectBody<AlertsView>(set).rules).toEqual(rules)
    expect((await getAlerts(as)).rules).toEqual(rules)
    const bad = await control.call('PUT /api/alerts/rules', {
      as,
      body: { errorPercent: 101, latencyMs: 0, minutes: 4, minCalls: 0.5 },
    })
    expect(expectError(bad, 422).fields).toEqual([
      { field: 'errorPercent', fix: 'must be a whole number from 1 to 100' },
      { field: 'latencyMs', fix: 'must be a whole number from 1 to 600000' },
      { field: 'minutes', fix: 'must be a whole number from 5 to 60' },
      { field: 'minCalls', fix: 'must be a whole number from 10 to 1000000' },
    ])
    const [entry] = expectBody<{ items: readonly { action: string; detail: unknown }[] }>(
      await control.call('GET /api/audit-log', { as, query: { limit: 1 } }),
    ).items
    expect(entry).toMatchObject({ action: 'alerts.rules', detail: rules })
  })

  test('only operators get alerts about the service: emails from the start, webhooks if they want', async () => {
    const [operator, user] = [await signUpOperator(control), await signUp(control)]
    const emails = { own: true, allUsers: false }
    expect((await getAlerts(operator.as)).emails).toEqual({ ...emails, aboutService: true })
    expect((await getAlerts(user.as)).emails).toEqual({ ...emails, aboutService: false })
    const body = { url: 'https://hooks.example.org/', aboutService: true }
    expectError(await control.call('POST /api/alerts/webhooks', { as: user.as, body }), 403)
    expectError(
      await control.call('PUT /api/alerts/emails', { as: user.as, body: { ...emails, aboutService: true } }),
      403,
    )
    const added = await control.call('POST /api/alerts/webhooks', { as: operator.as, body })
    expect(expectBody<NewWebhookView>(added, 201).webhook).toMatchObject({ allUsers: false, aboutService: true })
    const off = { as: operator.as, body: { ...emails, aboutService: false } }
    expect(expectBody<AlertsView>(await control.call('PUT /api/alerts/emails', off)).emails).toEqual(off.body)

    // A user who becomes an operator later gets them too.
    expectBody(await control.call('PUT /api/alerts/emails', { as: user.as, body: { ...emails, aboutService: false } }))
    await control.storage.users.setRole(user.id, 'operator')
    expect((await getAlerts(user.as)).emails.aboutService).toBe(true)

    const { team } = await createFixture(control)
    await control.storage.users.setRole(team.user.id, 'operator')
    const ofTeam = await control.call('POST /api/alerts/webhooks', { as: team.user.as, body })
    expect(expectError(ofTeam, 422).fields).toEqual([
      { field: 'aboutService', fix: 'must be false for the webhook of a team' },
    ])
  })

  test('a rotated secret signs beside the previous one', async () => {
    const { as, id: userId } = await signUp(control)
    const { webhook, secret } = await addWebhook(as)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const params = { webhookId: webhook.id }
    const rotated = expectBody<NewWebhookView>(
      await control.call('POST /api/alerts/webhooks/{webhookId}/rotate', { as, params, body: {} }),
    )
    const stored = await control.storage.webhooks.find({ id: webhook.id, userId })
    if (stored === undefined) throw new Error('unreachable')
    const signing = listWebhookSecrets(openKey(stored.sealed, stored, control.secrets), control.clock.now)
    expect(signing).toEqual([rotated.secret, secret])
  })

  test('the test of a webhook says why nothing is sent to a private address, and to operators to which', async () => {
    const [operator, user] = [await signUpOperator(control), await signUp(control)]
    control.webhookResult.next = { ok: false, result: 'privateAddress', address: '10.0.0.5' }
    const ofUser = await testWebhook(user.as, (await addWebhook(user.as)).webhook.id)
    expect(ofUser).toEqual({
      ok: false,
      result: 'privateAddress',
      fix: 'hooks.example.org resolves to an address of a private network or of this machine. Users choose the URLs of webhooks, so the service sends only to addresses of the public internet. Use a public URL, or ask the operator of this service to set webhooks.allowPrivateAddresses.',
    })
    const { fix } = await testWebhook(operator.as, (await addWebhook(operator.as)).webhook.id)
    expect(fix).toContain('hooks.example.org resolves to 10.0.0.5, an address of a private network')
    expect(fix).toContain('set "webhooks": { "allowPrivateAddresses": true } in the config')
    control.webhookResult.next = { ok: false, result: 'HTTP 500' }
    expect(await testWebhook(user.as, (await addWebhook(user.as)).webhook.id)).toEqual({
      ok: false,
      result: 'HTTP 500',
      fix: null,
    })
  })
})
