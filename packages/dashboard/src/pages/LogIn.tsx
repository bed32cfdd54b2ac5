import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callApi } from '../control/callApi.ts'
import { backTo } from '../control/backTo.ts'
import { sendLogIn, useOpenAfterLogIn } from '../control/logIn.ts'
import { getPasskey, hasPasskeys } from '../control/passkeys.ts'
import { deploymentQuery } from '../control/queries.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Alone } from '../frame/Alone.tsx'
import { Unreachable } from '../frame/Unreachable.tsx'
import { Button } from '../parts/Button.tsx'
import { EmailField } from '../parts/EmailField.tsx'
import { Note, Problem } from '../parts/Note.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { PasswordField } from '../parts/PasswordField.tsx'
import { SignOnButton } from '../parts/SignOnButton.tsx'

const route = getRouteApi('/log-in')

/** Log in, and return to the page that was open. */
export function LogIn() {
  const { back: requested, ended } = route.useSearch()
  // Checked where it is used: the router hands on what its own check has left out.
  const back = backTo(requested)
  const openAfterLogIn = useOpenAfterLogIn()
  const { data: deployment } = useQuery(deploymentQuery)
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { submit, isPending, problem, getFix } = useSubmit({
    check: () => ({
      email: email.trim() === '' ? 'Enter your email address' : undefined,
      password: password === '' ? 'Enter your password' : undefined,
    }),
    send: () => sendLogIn(callApi('POST /api/session', { body: { email, password } })),
    done: (started) => openAfterLogIn(started, back),
    fields: ['email', 'password'],
  })
  const usingPasskey = useSubmit({
    send: async () => {
      const { passkey } = await callApi('POST /api/session/passkey/options')
      return callApi('POST /api/session/passkey', { body: { passkey: await getPasskey(passkey) } })
    },
    done: (session) => openAfterLogIn(session, back),
  })
  const hasPasswords = deployment?.passwordLogin !== false
  return (
    <>
      <Unreachable />
      <Alone>
        <PageHead title="Log in" />
        {ended && <Note kind="warn">Your session has expired. Log in to continue where you were.</Note>}
        {hasPasswords && (
          <form className="stack" noValidate onSubmit={submit}>
            <Problem text={problem} />
            <EmailField value={email} onChange={setEmail} fix={getFix('email')} />
            <PasswordField kind="current" value={password} onChange={setPassword} fix={getFix('password')} />
            <Button kind="primary" type="submit" busy={isPending}>
              Log in
            </Button>
          </form>
        )}
        {hasPasswords && hasPasskeys() && (
          <div className="stack">
            <Problem text={usingPasskey.problem} />
            <Button busy={usingPasskey.isPending} onClick={() => usingPasskey.submit()}>
              Log in with a passkey
            </Button>
          </div>
        )}
        <SignOnButton back={back} />
        {!hasPasswords ? null : deployment?.email ? (
          <p className="soft">
            <Link to="/forgot-password">Forgot your password?</Link>
          </p>
        ) : (
          <p className="soft">Forgot your password? Ask the operator of this service.</p>
        )}
        {deployment?.signUp !== 'closed' && (
          <p className="soft">
            No account yet? <Link to="/sign-up">Sign up</Link>
          </p>
        )}
      </Alone>
    </>
  )
}
