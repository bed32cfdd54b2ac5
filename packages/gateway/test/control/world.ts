import { generateKeyPairSync } from 'node:crypto'
import { createApiKey } from '../../src/lib/secrets/apiKey.ts'
import type { AppView } from '../../src/control/contract/app.ts'
import type { ApiKeyView } from '../../src/control/contract/apiKey.ts'
import { tokenScopes } from '../../src/control/contract/accessToken.ts'
import type { TokenScope } from '../../src/control/contract/accessToken.ts'
import { newIp, newMail, passed, password } from '../account/accountFixture.ts'
import type { Answered, Login, StartedControl } from './startControl.ts'

export { newIp, newMail, password }

/** A public key in PEM, and the private one that belongs to it. */
export const newPem = (): { publicPem: string; privatePem: string } => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** The body of an answer that must be of this status. */
export const bodyOf = <Body>(answered: Answered, status = 200): Body => {
  if (answered.status !== status) throw new Error(`${answered.status} instead of ${status}: ${answered.text}`)
  return answered.body as Body
}

/** The cookie that an answer sets. */
export const cookieOf = ({ headers }: Answered): string => {
  const [cookie = ''] = headers.getSetCookie()
  return cookie.split(';', 1)[0] ?? ''
}

/** Somebody who is logged in. */
export interface Person {
  readonly id: string
  readonly email: string
  readonly as: Login
}

/** Signs up over HTTP, as a browser does. */
export const signUp = async (control: StartedControl): Promise<Person> => {
  const email = newMail()
  const answered = await control.call('POST /api/account', { body: { email, password } })
  const { account } = bodyOf<{ account: { id: string } }>(answered, 201)
  return { id: account.id, email, as: { cookie: cookieOf(answered) } }
}

/** Somebody who is an operator. */
export const signUpOperator = async (control: StartedControl): Promise<Person> => {
  const person = await signUp(control)
  passed(await control.accounts.operator.setUserRole({ id: person.id, role: 'operator' }))
  return person
}

/** A personal access token. */
export const createToken = async (
  control: StartedControl,
  { as }: Person,
  scopes: readonly TokenScope[],
): Promise<Login & { bearer: string; id: string }> => {
  const made = await control.call('POST /api/tokens', { as, body: { label: 'ci', scopes, expiresAt: null } })
  const { token, accessToken } = bodyOf<{ token: string; accessToken: { id: string } }>(made, 201)
  return { bearer: token, id: accessToken.id }
}

/** Somebody who has one of everything. */
export interface World {
  readonly person: Person
  readonly app: AppView
  readonly appKey: string
  readonly key: ApiKeyView
  readonly apiKey: string
  readonly entryId: string
  readonly kid: string
  readonly tokenId: string
  /** A token that may do all that a token may. */
  readonly token: Login & { bearer: string }
  readonly userId: string
  readonly inviteId: string
  readonly link: string
}

/** What makes an app, by a name that the account does not have yet. */
export const appBody = (name = `App ${createApiKey('app').slice(-6)}`) => ({
  name,
  useCase: 'Wallet' as const,
  chain: 'ETH',
  services: ['Node API'] as const,
})

/** Makes a world. */
export const createWorld = async (control: StartedControl, person?: Person): Promise<World> => {
  const owner = person ?? (await signUp(control))
  const { as } = owner
  const { app, apiKey: appKey } = bodyOf<{ app: AppView; apiKey: string }>(
    await control.call('POST /api/apps', { as, body: appBody() }),
    201,
  )
  const params = { appId: app.id }
  const { key, apiKey } = bodyOf<{ key: ApiKeyView; apiKey: string }>(
    await control.call('POST /api/keys', { as, body: { name: 'My key', network: 'testnet' } }),
    201,
  )
  const entry = bodyOf<{ id: string }>(
    await control.call('POST /api/apps/{appId}/allow-list', {
      as,
      params,
      body: { type: 'method', value: 'eth_call' },
    }),
    201,
  )
  const { kid } = bodyOf<{ kid: string }>(
    await control.call('POST /api/apps/{appId}/jwt-keys', { as, params, body: { pem: newPem().publicPem } }),
    201,
  )
  const token = await createToken(control, owner, tokenScopes)
  const other = await createToken(control, owner, ['read'])
  const { invite } = passed(await control.accounts.operator.inviteUser({ email: newMail() }))
  const { text: link } = passed(await control.accounts.operator.resetLink({ id: owner.id }))
  const fresh = bodyOf<AppView>(await control.call('GET /api/apps/{appId}', { as, params }))
  return {
    person: owner,
    app: fresh,
    appKey,
    key,
    apiKey,
    entryId: entry.id,
    kid,
    token,
    tokenId: other.id,
    userId: owner.id,
    inviteId: invite.id,
    link,
  }
}
