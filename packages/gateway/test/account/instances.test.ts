import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStorage } from '../../src/storage/openStorage.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import { newIp, newEmail, expectOk, password } from './accountFixture.ts'
import type { AccountFixture } from './accountFixture.ts'
import { createFactorFixture } from './factorFixture.ts'
import { databasesAndFactors } from './factorKinds.ts'

/** Whether any PostgreSQL transaction waits for a lock. */
const isAnyWaiting = async ({ db }: Storage): Promise<boolean> => {
  const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await waiting.execute(db.query)).rows.length > 0
}

describe.each(databasesAndFactors)('accounts of two instances on one database: $name', ({ database, factor }) => {
  let storages: readonly Storage[]
  let one: AccountFixture
  let two: AccountFixture
  beforeAll(async () => {
    const options = await database.create()
    const [first, second] = [await openStorage(options), await openStorage(options)]
    storages = [first, second]
    one = createFactorFixture(factor, first)
    two = createFactorFixture(factor, second)
  })
  afterAll(async () => {
    await Promise.all(storages.map((storage) => storage.close()))
    await database.stop()
  })

  test('sessions and tokens of one instance work and end at the other', async () => {
    const { token, viewer, email } = await one.signUp()
    const { id } = viewer.user
    expect(await two.accounts.authenticate(token)).toEqual(viewer)
    const { text } = expectOk(
      await two.accounts.createAccessToken({ viewer, label: 'ci', scopes: ['read'], expiresAt: null }),
    )
    expect(await one.accounts.authenticateToken(text)).toMatchObject({ user: { id } })
    expectOk(await two.accounts.operator.setUserState({ id, state: 'disabled' }))
    expect(await one.accounts.authenticate(token)).toBeUndefined()
    expect(await one.accounts.authenticateToken(text)).toBeUndefined()
    expectOk(await two.accounts.operator.setUserState({ id, state: 'active' }))
    const again = expectOk(await one.accounts.logIn({ email, password, ip: newIp() }))
    expectOk(
      await two.accounts.changePassword({
        viewer: again.viewer,
        current: password,
        next: 'seven blue herons',
        ip: newIp(),
      }),
    )
    expect(await one.accounts.authenticate(again.token)).toBeUndefined()
  })

  test('a session that one instance ends is rejected by the other at once', async () => {
    const { email, viewer } = await one.signUp()
    const other = expectOk(await two.accounts.logIn({ email, password, ip: newIp() }))
    expect(await two.accounts.authenticate(other.token)).toBeDefined()
    const [own] = await two.accounts.listSessions(other.viewer)
    expect(await one.accounts.endSession({ viewer, id: own?.id ?? '' })).toBe(true)
    expect(await two.accounts.authenticate(other.token)).toBeUndefined()
  })

  // SQLite has a single writer, so there is no concurrent write to test.
  test.each([database].filter(({ name }) => name !== 'sqlite'))(
    'disabling an account does not block changes of other accounts',
    async () => {
      const [ann, bob] = [await one.signUp(), await one.signUp()]
      let disabled: Promise<unknown> | undefined
      await one.storage.transaction(async (within) => {
        // Locks the session, so that it cannot end before this transaction does.
        await within.sessions.touch(ann.viewer.session?.hash ?? '', 1)
        disabled = two.accounts.operator.setUserState({ id: ann.viewer.user.id, state: 'disabled' })
        await expect.poll(() => isAnyWaiting(two.storage)).toBe(true)
        expectOk(await two.accounts.operator.setUserLimits({ id: bob.viewer.user.id, limits: null }))
      })
      expect(await disabled).toMatchObject({ state: 'disabled' })
      expect(await one.accounts.authenticate(ann.token)).toBeUndefined()
    },
    60_000,
  )

  test('one-time secrets work once across both instances', async () => {
    for (const { mode } of [one, two]) mode.signUp = 'invite'
    for (let round = 0; round < 5; round += 1) {
      const { text } = expectOk(await one.accounts.operator.inviteUser({}))
      const results = await Promise.all(
        [one, two, one, two].map(({ accounts }) =>
          accounts.signUp({ email: newEmail(), password, invite: text, ip: newIp() }),
        ),
      )
      const codes = results.map((result) => ('code' in result ? result.code : 'in'))
      expect(codes.sort()).toEqual(['in', 'invite_invalid', 'invite_invalid', 'invite_invalid'])
      const user = expectOk(results.find((result) => 'token' in result)).viewer.user
      const link = expectOk(await two.accounts.operator.resetLink({ id: user.id })).text
      const resets = await Promise.all(
        [one, two, one, two].map(({ accounts }) =>
          accounts.resetPassword({ link, password: 'seven blue herons', ip: newIp() }),
        ),
      )
      expect(resets.filter((result) => 'token' in result)).toHaveLength(1)
    }
  })

  test('concurrent sign-ups with one email address create one account', async () => {
    for (const { mode } of [one, two]) mode.signUp = 'open'
    for (let round = 0; round < 5; round += 1) {
      const email = newEmail()
      const results = await Promise.all(
        [one, two, one, two].map(({ accounts }) => accounts.signUp({ email, password, ip: newIp() })),
      )
      expect(results.filter((result) => 'token' in result)).toHaveLength(1)
    }
  })
})
