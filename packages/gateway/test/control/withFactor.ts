import type { FactorOptionsView, NewFactorOptionsView, SessionView } from '../../src/control/contract/controlApi.d.ts'
import type { ApiErrorView } from '../../src/control/contract/apiError.ts'
import type { RouteName } from '../../src/control/contract/routeName.ts'
import type { PasskeyOptions } from '../../src/control/account/factorProof.ts'
import { createTestFactor } from '../account/factorKinds.ts'
import type { FactorKind, TestFactor } from '../account/factorKinds.ts'
import { expectBody, readCookie } from './accountFixture.ts'
import type { Sent, StartedControl, TestResponse } from './startControl.ts'

const logInRoutes: ReadonlySet<RouteName> = new Set([
  'POST /api/account',
  'POST /api/session',
  'POST /api/session/link',
  'POST /api/account/password/reset',
])

/** The same control API for a browser whose accounts all have a factor: each sign-up adds one, and each log-in proves it. */
export const withFactor = (control: StartedControl, kind: FactorKind): StartedControl => {
  if (kind === 'no factor') return control
  const factors = new Map<string, TestFactor>()

  const prove = async (started: TestResponse, browser: { cookie: string } | undefined): Promise<TestResponse> => {
    const pending = readCookie(started)
    const as = { cookie: browser === undefined ? pending : `${browser.cookie}; ${pending}` }
    const options = await control.call('POST /api/session/second-factor/options', { as })
    const [, userId = ''] = /=(usr_\w+)/.exec(pending) ?? []
    const body = factors.get(userId)?.prove(expectBody<FactorOptionsView>(options)) ?? {}
    return control.call('POST /api/session/second-factor', { as, body })
  }
  const add = async (started: TestResponse): Promise<TestResponse> => {
    const as = { cookie: readCookie(started) }
    const options = await control.call('POST /api/account/factors/options', { as, body: {} })
    const { totp, passkey } = expectBody<NewFactorOptionsView & { passkey: PasskeyOptions }>(options)
    const factor = createTestFactor(kind, { site: control.url, clock: control.clock })
    factors.set((started.body as SessionView).account.id, factor)
    const body = { label: 'Test', ...factor.add({ totp, passkey }) }
    const added = await control.call('POST /api/account/factors', { as, body })
    expectBody(added, 201)
    // The response to the sign-up, with the cookie of the new session.
    return { ...started, headers: added.headers }
  }
  return {
    ...control,
    call: async <Name extends RouteName>(name: Name, sent: Sent<Name> = {} as Sent<Name>) => {
      const started = await control.call(name, sent)
      if (!logInRoutes.has(name)) return started
      const { error } = started.body as Partial<ApiErrorView>
      const browser = sent.as !== undefined && 'cookie' in sent.as ? sent.as : undefined
      if (error !== undefined) return error.code === 'second_factor_required' ? prove(started, browser) : started
      return (started.body as SessionView).account.hasSecondFactor ? started : add(started)
    },
  }
}
