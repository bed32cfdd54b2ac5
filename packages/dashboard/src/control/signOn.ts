import { callApi } from './callApi.ts'
import { sendLogIn } from './logIn.ts'
import type { StartedLogIn } from './logIn.ts'

/** What to do after a log-in at the provider. Stored for this tab only. */
export interface SignOnPlan {
  /** The page to open. */
  readonly back?: string | undefined
  /** Signs up. */
  readonly invite?: string | undefined
  /** Connects the provider to the account that is logged in. */
  readonly connect?: boolean
}

const page = '/log-in/single-sign-on'
const storageName = 'keyrail-sign-on'

// Read before the router does, and taken out of the URL at once, because it has a secret.
const response = location.pathname === page ? location.search : ''
if (response !== '') history.replaceState(history.state, '', page)

/** Opens the provider's log-in page. */
export async function startSignOn(plan: SignOnPlan): Promise<void> {
  const { url } = await callApi('POST /api/session/single-sign-on')
  sessionStorage.setItem(storageName, JSON.stringify(plan))
  location.assign(url)
}

function takePlan(): SignOnPlan {
  try {
    const plan = JSON.parse(sessionStorage.getItem(storageName) ?? '{}') as SignOnPlan
    sessionStorage.removeItem(storageName)
    return plan
  } catch {
    return {}
  }
}

let finished: Promise<{ readonly started: StartedLogIn; readonly plan: SignOnPlan }> | undefined

/** Finishes the log-in after the provider has redirected back. Sent once, even if it is called several times. */
export function finishSignOn(): NonNullable<typeof finished> {
  finished ??= (async () => {
    const plan = takePlan()
    const { invite, connect } = plan
    const started = await sendLogIn(
      callApi('POST /api/session/single-sign-on/finish', {
        body: { response: response || '?', ...(invite && { invite }), ...(connect && { connect }) },
      }),
    )
    return { started, plan }
  })()
  return finished
}
