import { generateKeyPairSync } from 'node:crypto'
import { toSessionId } from '../../src/control/account/openSessions.ts'
import { createSecretText, hashSecret } from '../../src/control/account/secretText.ts'
import { createApiKey } from '../../src/lib/secrets/apiKey.ts'
import type { ApiKeyView, AppView, TokenScope } from '../../src/control/contract/controlApi.d.ts'
import type { ApiErrorView } from '../../src/control/contract/apiError.ts'
import type { RouteName } from '../../src/control/contract/routeName.ts'
import type { MemberRole } from '../../src/storage/tables.ts'
import { createId } from '../../src/storage/createId.ts'
import { tokenScopes } from '../../src/control/contract/accessToken.ts'
import { createLogId } from '../../src/usage/requestLog/logId.ts'
import { toRequestSteps } from '../../src/usage/requestLog/requestLogRows.ts'
import { createRequestRow } from '../usage/createRequestRow.ts'
import { newIp, newEmail, expectOk, password } from '../account/accountFixture.ts'
import type { TestResponse, Login, StartedControl } from './startControl.ts'

export { newIp, newEmail, password }

/** Creates a key pair in PEM. */
export const newPem = (): { publicPem: string; privatePem: string } => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** Checks a response's status and returns its body. */
export const expectBody = <Body>(response: TestResponse, status = 200): Body => {
  if (response.status !== status) throw new Error(`${response.status} instead of ${status}: ${response.text}`)
  return response.body as Body
}

/** Checks the status of a response that is an error, and returns the error. */
export const expectError = (response: TestResponse, status: number): ApiErrorView['error'] =>
  expectBody<ApiErrorView>(response, status).error

/** Reads the cookie that a response sets. */
export const readCookie = ({ headers }: TestResponse): string => {
  const [cookie = ''] = headers.getSetCookie()
  return cookie.split(';', 1)[0] ?? ''
}

/** The OpenID Connect provider that the users of the fixtures are connected to. */
export const issuer = 'https://id.example.org'

/** A logged-in user. */
export interface TestUser {
  readonly id: string
  readonly email: string
  readonly as: Login
}

/** Signs up over HTTP like a browser. */
export const signUp = async (control: StartedControl): Promise<TestUser> => {
  const email = newEmail()
  const response = await control.call('POST /api/account', { body: { email, password } })
  const { account } = expectBody<{ account: { id: string } }>(response, 201)
  return { id: account.id, email, as: { cookie: readCookie(response) } }
}

/** Signs up an operator. */
export const signUpOperator = async (control: StartedControl): Promise<TestUser> => {
  const user = await signUp(control)
  expectOk(await control.accounts.operator.setUserRole({ id: user.id, role: 'operator' }))
  return user
}

/** Creates a personal access token. */
export const createToken = async (
  control: StartedControl,
  { as }: TestUser,
  scopes: readonly TokenScope[],
): Promise<Login & { bearer: string; id: string }> => {
  const created = await control.call('POST /api/tokens', { as, body: { label: 'ci', scopes, expiresAt: null } })
  const { token, accessToken } = expectBody<{ token: string; accessToken: { id: string } }>(created, 201)
  return { bearer: token, id: accessToken.id }
}

/** A user with one object of every kind. */
export interface AccountFixture {
  readonly user: TestUser
  readonly app: AppView
  readonly appKey: string
  readonly key: ApiKeyView
  readonly apiKey: string
  readonly entryId: string
  readonly kid: string
  /** A request in the log of the app, and one in that of the API key. */
  readonly logId: string
  readonly tokenId: string
  /** An access token with all scopes. */
  readonly token: Login & { bearer: string }
  readonly userId: string
  readonly inviteId: string
  readonly link: string
  /** A link that gives the account another email address. */
  readonly emailLink: string
  /** A link that logs in. */
  readonly logInLink: string
  readonly webhookId: string
  readonly factorId: string
  /** Another session of the user. */
  readonly sessionId: string
  readonly team: TeamFixture
}

/** A team of the user, with another owner and a member. */
export interface TeamFixture {
  readonly id: string
  /** The user, acting for the team. */
  readonly user: TestUser
  /** An access token for the team with all scopes. */
  readonly token: Login & { bearer: string }
  /** A developer. */
  readonly memberId: string
  readonly inviteId: string
  /** The secret of an invite of the user to another team. */
  readonly invite: string
}

const teamName = 'Team'

/** Routes that are about a team, not about any account. */
const isTeamRoute = (name: RouteName): boolean =>
  name !== 'GET /api/members' && / \/api\/(?:team|members)(?:\/|$)/.test(name)

/** The user of a fixture, acting for the account that a route is about. */
export const getOwner = (name: RouteName, { user, team }: AccountFixture): TestUser =>
  isTeamRoute(name) ? team.user : user

/** The access token for that account. */
export const getToken = (name: RouteName, { token, team }: AccountFixture): Login =>
  isTeamRoute(name) ? team.token : token

/** Gets the id for a path parameter of a route. */
export const getPathId = (route: RouteName, name: string, fixture: AccountFixture): string => {
  const { team } = fixture
  const ids: Readonly<Record<string, string>> = {
    accountId: team.id,
    appId: fixture.app.id,
    entryId: fixture.entryId,
    kid: fixture.kid,
    keyId: fixture.key.id,
    logId: fixture.logId,
    tokenId: fixture.tokenId,
    userId: isTeamRoute(route) ? team.memberId : fixture.userId,
    inviteId: isTeamRoute(route) ? team.inviteId : fixture.inviteId,
    webhookId: fixture.webhookId,
    factorId: fixture.factorId,
    sessionId: fixture.sessionId,
  }
  const id = ids[name]
  if (id === undefined) throw new Error(`the path has a new id, {${name}}: add it to getPathId`)
  return id
}

/** Adds a user to a team, without the log-in of a browser. */
export const addMember = async (
  { storage, clock }: StartedControl,
  accountId: string,
  member: { id: string; role: MemberRole },
): Promise<void> => {
  await storage.members.add({ accountId, userId: member.id, role: member.role, now: clock.now })
}

const addUser = async ({ storage, clock }: StartedControl): Promise<string> => {
  const user = await storage.users.create({ email: newEmail(), password: '', now: clock.now })
  if (typeof user === 'string') throw new Error(user)
  return user.id
}

const addInvite = async (
  { storage, clock }: StartedControl,
  invite: { accountId: string; email: string; createdBy: string },
): Promise<{ id: string; text: string }> => {
  const text = createSecretText('memberInvite')
  const { id } = await storage.members.createInvite({
    ...invite,
    role: 'developer',
    hash: hashSecret(text),
    expiresAt: clock.now + 7 * 86_400_000,
    now: clock.now,
  })
  return { id, text }
}

const createTeam = async (control: StartedControl, owner: TestUser): Promise<TeamFixture> => {
  const { storage, clock } = control
  const { as } = owner
  const created =
    as.account === undefined
      ? expectBody<{ id: string }>(await control.call('POST /api/accounts', { as, body: { name: teamName } }), 201).id
      : as.account
  const user = { ...owner, as: { ...as, account: created } }
  const [otherOwner, memberId] = [await addUser(control), await addUser(control)]
  await addMember(control, created, { id: otherOwner, role: 'owner' })
  // Otherwise the user could not leave.
  await storage.teams.passOn({ id: created, userId: owner.id, by: otherOwner, maxApps: 20, now: clock.now })
  await addMember(control, created, { id: memberId, role: 'developer' })
  const { id: inviteId } = await addInvite(control, { accountId: created, email: newEmail(), createdBy: owner.id })
  const other = await storage.teams.create({ name: 'Other team', createdBy: otherOwner, max: 10, now: clock.now })
  if (typeof other === 'string') throw new Error(other)
  await addMember(control, other.id, { id: otherOwner, role: 'owner' })
  const { text: invite } = await addInvite(control, {
    accountId: other.id,
    email: owner.email,
    createdBy: otherOwner,
  })
  return { id: created, user, token: await createToken(control, user, tokenScopes), memberId, inviteId, invite }
}

/** Adds a request to the logs of some keys. */
const logRequests = async ({ storage, clock }: StartedControl, keyIds: readonly string[]): Promise<string> => {
  const id = createLogId(clock.now)
  const rows = keyIds.map((keyId) => createRequestRow({ keyId, id, at: clock.now }))
  await storage.write(toRequestSteps(storage.db.kind, rows))
  return id
}

/** Creates the body of a request for an app, with a unique name. */
export const createAppBody = (name = `App ${createApiKey('app').slice(-6)}`) => ({
  name,
  useCase: 'Wallet' as const,
  chain: 'ethereum',
  services: ['Node API'] as const,
})

/** Logs a user in with another browser. @returns The id of the session. */
const addSession = async ({ storage, clock }: StartedControl, { id: userId }: TestUser): Promise<string> => {
  const hash = hashSecret(newEmail())
  await storage.sessions.create({ hash, userId, ip: '192.0.2.7', userAgent: 'A browser', now: clock.now })
  return toSessionId(hash)
}

/** Creates a user with one object of every kind. */
export const createFixture = async (control: StartedControl, user?: TestUser): Promise<AccountFixture> => {
  const owner = user ?? (await signUp(control))
  const { as } = owner
  const { app, apiKey: appKey } = expectBody<{ app: AppView; apiKey: string }>(
    await control.call('POST /api/apps', { as, body: createAppBody() }),
    201,
  )
  const params = { appId: app.id }
  const { key, apiKey } = expectBody<{ key: ApiKeyView; apiKey: string }>(
    await control.call('POST /api/keys', { as, body: { name: 'My key', network: 'testnet' } }),
    201,
  )
  const entry = expectBody<{ id: string }>(
    await control.call('POST /api/apps/{appId}/allow-list', {
      as,
      params,
      body: { type: 'method', value: 'eth_call' },
    }),
    201,
  )
  const { kid } = expectBody<{ kid: string }>(
    await control.call('POST /api/apps/{appId}/jwt-keys', { as, params, body: { pem: newPem().publicPem } }),
    201,
  )
  const logId = await logRequests(control, [app.key.id, key.id])
  const token = await createToken(control, owner, tokenScopes)
  const other = await createToken(control, owner, ['read'])
  const { invite } = expectOk(await control.accounts.operator.inviteUser({ email: newEmail() }))
  const { text: link } = expectOk(await control.accounts.operator.resetLink({ id: owner.id }))
  const { webhook } = expectBody<{ webhook: { id: string } }>(
    await control.call('POST /api/alerts/webhooks', { as, body: { url: 'https://hooks.example.org/' } }),
    201,
  )
  const factorId = createId('fac')
  // Not through `Factors`: the account would have a second factor, and its session would have to prove it.
  await control.storage.db.query
    .insertInto('factors')
    .values({
      id: factorId,
      userId: owner.id,
      kind: 'totp',
      label: 'App',
      sealed: null,
      credentialId: null,
      publicKey: null,
      transports: '[]',
      counter: 0,
      createdAt: control.clock.now,
      usedAt: null,
    })
    .execute()
  await control.storage.identities.add({ issuer, subject: owner.id, userId: owner.id, now: control.clock.now })
  const emailLink = createSecretText('email')
  await control.storage.emailLinks.create({
    hash: hashSecret(emailLink),
    email: newEmail(),
    userId: owner.id,
    expiresAt: control.clock.now + 3_600_000,
    now: control.clock.now,
  })
  const team = await createTeam(control, owner)
  const fresh = expectBody<AppView>(await control.call('GET /api/apps/{appId}', { as, params }))
  return {
    user: owner,
    app: fresh,
    appKey,
    key,
    apiKey,
    entryId: entry.id,
    kid,
    logId,
    token,
    tokenId: other.id,
    userId: owner.id,
    inviteId: invite.id,
    link,
    emailLink,
    logInLink: control.accounts.createLogInLink(owner.id),
    webhookId: webhook.id,
    factorId,
    sessionId: await addSession(control, owner),
    team,
  }
}
