import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RouteName } from '../../src/control/contract/routeName.ts'
import type { RouteAccess } from '../../src/control/route.ts'
import { routeNames, getRoute } from '../../src/control/routes.ts'
import type { MemberRole } from '../../src/storage/tables.ts'
import type { TestDatabase } from '../storage/databases.ts'
import {
  addMember,
  createFixture,
  createToken,
  expectError,
  getOwner,
  signUp,
  signUpOperator,
} from './accountFixture.ts'
import type { AccountFixture, TestUser } from './accountFixture.ts'
import { readStored } from './readStored.ts'
import { startControl } from './startControl.ts'
import type { Login, Sent, StartedControl, TestResponse } from './startControl.ts'
import { validInputs } from './validInputs.ts'

// Role × account × route × kind of credential, for every route in the table.

const roles = ['owner', 'admin', 'developer', 'viewer'] as const

/** What each role may do. Written here again, so that a change of a role fails here. */
const allowed: Readonly<Record<MemberRole, readonly RouteAccess[]>> = {
  viewer: ['read', 'own'],
  developer: ['read', 'own', 'apps:write', 'keys:write', 'reveal'],
  admin: ['read', 'own', 'apps:write', 'keys:write', 'reveal', 'members', 'manage'],
  owner: ['read', 'own', 'apps:write', 'keys:write', 'reveal', 'members', 'manage', 'rules', 'delete'],
}
/** What an access token with all scopes may do. */
const tokenScopes = ['read', 'apps:write', 'keys:write', 'members'] as const
const isTokenScope = (access: RouteAccess): boolean => tokenScopes.some((scope) => scope === access)
/** The scopes of the tokens that a member of each role can create. */
const getScopes = (role: MemberRole) => tokenScopes.filter((scope) => allowed[role].includes(scope))

const accountRoutes = routeNames.filter((name) => !['anyone', 'session', 'operator'].includes(getRoute(name).access))
const otherRoutes = routeNames.filter((name) => ['session', 'operator'].includes(getRoute(name).access))

/** A credential, and the status that a request with it must get. */
interface Cell {
  readonly title: string
  readonly as: Login | undefined
  readonly status: number
  /** @default any */
  readonly code?: string
}

/** A member of the team with tokens for it. */
interface Person {
  readonly role: MemberRole
  readonly user: TestUser
  readonly session: Login
  readonly token: Login
  readonly readToken: Login
  /** A token for the personal account. */
  readonly ownToken: Login
}

const addPerson = async (control: StartedControl, accountId: string, role: MemberRole): Promise<Person> => {
  const user = await signUp(control)
  await addMember(control, accountId, { id: user.id, role })
  const inTeam: TestUser = { ...user, as: { ...user.as, account: accountId } }
  return {
    role,
    user,
    session: inTeam.as,
    token: await createToken(control, inTeam, getScopes(role)),
    readToken: await createToken(control, inTeam, ['read']),
    ownToken: await createToken(control, user, tokenScopes),
  }
}

/** Creates a team with one object of every kind. */
const createTeamFixture = async (control: StartedControl): Promise<AccountFixture> => {
  const { team } = await createFixture(control)
  return createFixture(control, team.user)
}

/**
 * Requests every route as members of every role, and as users who are no members.
 * @param options.isQuick - Requests what a role allows on one route of each scope only: each write needs a team of its own.
 */
export const testRoles = (database: TestDatabase, { isQuick = false } = {}): void => {
  const ofScopes = new Map(accountRoutes.toReversed().map((name) => [getRoute(name).access, name]))
  const allowedRoutes = isQuick ? [...ofScopes.values()] : accountRoutes
  describe(`every route as every role on ${database.name}`, () => {
    let control: StartedControl
    let fixture: AccountFixture
    let accountId: string
    let persons: readonly Person[]
    /** Cells for users who are no members: any role elsewhere. */
    let outsiders: readonly (Omit<Person, 'role'> & { readonly title: string })[]
    let former: Person
    let operator: TestUser

    beforeAll(async () => {
      control = await startControl(database)
      fixture = await createTeamFixture(control)
      accountId = fixture.team.id
      const added: Person[] = []
      for (const role of roles) added.push(await addPerson(control, accountId, role))
      persons = added
      former = await addPerson(control, accountId, 'admin')
      const removed = await control.call('POST /api/members/{userId}/remove', {
        as: fixture.team.user.as,
        params: { userId: former.user.id },
        body: {},
      })
      expect(removed.status).toBe(204)
      const outsider = await addPerson(control, (await createTeamFixture(control)).team.id, 'owner')
      operator = await signUpOperator(control)
      outsiders = [
        { ...outsider, title: 'an owner of another team' },
        { ...former, title: 'a former member' },
      ]
    })
    afterAll(async () => {
      await control.close()
      await database.stop()
    })

    const request = (name: RouteName, of: AccountFixture, as: Login | undefined): Promise<TestResponse> => {
      control.clock.now += 250
      return control.call(name, { ...validInputs[name](of), as } as Sent<RouteName>)
    }

    /** Makes requests that must be rejected. @returns Those with another status, and whether anything changed. */
    const tryAll = async (name: RouteName, cells: readonly Cell[]): Promise<unknown> => {
      const before = await readStored(control.storage)
      const wrong: unknown[] = []
      for (const { title, as, status, code } of cells) {
        const actual = await request(name, fixture, as)
        if (actual.status !== status) wrong.push(`${title}: ${actual.status} instead of ${status}`)
        else if (code !== undefined && expectError(actual, status).code !== code) wrong.push(`${title}: ${actual.text}`)
      }
      return { wrong, changed: (await readStored(control.storage)) !== before }
    }
    const nothing = { wrong: [], changed: false }

    /** The cells of a route of accounts that must be rejected. */
    const listRejected = (name: RouteName): readonly Cell[] => {
      const { access } = getRoute(name)
      const cells: Cell[] = [
        { title: 'nobody', as: undefined, status: 401 },
        { title: 'the operator token', as: { bearer: control.operatorToken, account: accountId }, status: 403 },
        { title: 'an operator', as: { ...operator.as, account: accountId }, status: 404 },
        { title: 'a removed token', as: former.token, status: 401 },
        { title: 'an unknown account', as: { ...fixture.user.as, account: 'acc_00000000000000000000' }, status: 404 },
        { title: 'no id', as: { ...fixture.user.as, account: "' or 1=1 --" }, status: 404 },
      ]
      for (const { role, session, token, readToken, ownToken, user } of persons) {
        const rejectedToken = { title: `token of ${role}`, as: token, status: 403 }
        if (!allowed[role].includes(access)) cells.push({ title: `session of ${role}`, as: session, status: 403 })
        // No scope of a token would help.
        if (!isTokenScope(access)) cells.push({ ...rejectedToken, code: 'session_required' })
        else if (!allowed[role].includes(access)) cells.push({ ...rejectedToken, code: 'forbidden' })
        if (access !== 'read') cells.push({ title: `read token of ${role}`, as: readToken, status: 403 })
        // A token belongs to one account.
        const status = isTokenScope(access) ? 404 : 403
        cells.push({ title: `personal token of ${role}`, as: { ...ownToken, account: accountId }, status })
        const ownStatus = isTokenScope(access) && allowed[role].includes(access) ? 404 : 403
        cells.push({ title: `token of ${role} elsewhere`, as: { ...token, account: user.id }, status: ownStatus })
        // Without the header it is the personal account, which has none of these.
        if (name.includes('{'))
          cells.push({ title: `${role} in the personal account`, as: user.as, status: getPersonalStatus(name) })
      }
      for (const { title, user, ownToken } of outsiders) {
        cells.push({ title, as: { ...user.as, account: accountId }, status: 404 })
        const status = isTokenScope(access) ? 404 : 403
        cells.push({ title: `token of ${title}`, as: { ...ownToken, account: accountId }, status })
      }
      return cells
    }

    /** A personal account has no members. */
    const getPersonalStatus = (name: RouteName): number => (name.includes('/api/members/') ? 409 : 404)

    test.each(accountRoutes)('%s: rejected', async (name) => {
      expect(await tryAll(name, listRejected(name))).toEqual(nothing)
    })

    test.each(otherRoutes)('%s: tokens of every role are rejected', async (name) => {
      const isOperator = getRoute(name).access === 'operator'
      const cells = persons.flatMap(({ role, session, token, ownToken }): readonly Cell[] => [
        { title: `token of ${role}`, as: token, status: 403 },
        { title: `personal token of ${role}`, as: ownToken, status: 403 },
        ...(isOperator ? [{ title: `session of ${role}`, as: session, status: 403 }] : []),
      ])
      expect(await tryAll(name, [{ title: 'nobody', as: undefined, status: 401 }, ...cells])).toEqual(nothing)
    })

    test.each(allowedRoutes)('%s: allowed', async (name) => {
      const { access, status } = getRoute(name)
      const writes = !name.startsWith('GET ')
      for (const { role, session, token, user } of persons) {
        if (!allowed[role].includes(access)) continue
        // A write uses its object up.
        const own = writes ? await createTeamFixture(control) : fixture
        const account = own.team.id
        const person = writes ? await addPerson(control, account, role) : { session, token, user }
        // Everyone has tokens of their own.
        const input =
          name === 'DELETE /api/tokens/{tokenId}'
            ? { params: { tokenId: (await createToken(control, { ...person.user, as: person.session }, ['read'])).id } }
            : name === 'POST /api/tokens'
              ? { body: { label: 'ci', scopes: ['read'], expiresAt: null } }
              : name === 'POST /api/apps/{appId}/transfer'
                ? { params: { appId: own.app.id }, body: { accountId: person.user.id } }
                : validInputs[name](own)
        const logins = [person.session, ...(isTokenScope(access) && !writes ? [token] : [])]
        for (const as of logins) {
          const response = await control.call(name, { ...input, as } as Sent<RouteName>)
          expect([role, response.status, status === response.status ? '' : response.text]).toEqual([role, status, ''])
        }
        if (!isTokenScope(access) || !writes) continue
        const next = await createTeamFixture(control)
        const other = await addPerson(control, next.team.id, role)
        expect([role, (await request(name, next, other.token)).status]).toEqual([role, status])
      }
    })

    test('the owner of a fixture still has access to all of it', async () => {
      for (const name of accountRoutes.filter((route) => route.startsWith('GET ')))
        expect([name, (await request(name, fixture, getOwner(name, fixture).as)).status]).toEqual([name, 200])
    })
  })
}
