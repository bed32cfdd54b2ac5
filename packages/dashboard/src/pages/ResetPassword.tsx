import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { callApi } from '../control/callApi.ts'
import { sendLogIn, useOpenAfterLogIn } from '../control/logIn.ts'
import { deploymentQuery, identitiesQuery, sessionQuery } from '../control/queries.ts'
import { changeSession } from '../control/sessionChange.ts'
import { useFragment } from '../control/useFragment.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Alone } from '../frame/Alone.tsx'
import { Unreachable } from '../frame/Unreachable.tsx'
import { Button } from '../parts/Button.tsx'
import { ConnectedIdentities } from '../parts/ConnectedIdentities.tsx'
import { Note, Problem } from '../parts/Note.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { PasswordField } from '../parts/PasswordField.tsx'

/** Set a new password by a link that works once. */
export function ResetPassword() {
  const link = useFragment()
  // Another link starts over.
  return <Form key={link} link={link} />
}

function Form({ link }: { readonly link: string }) {
  const router = useRouter()
  const queries = useQueryClient()
  const { data: deployment } = useQuery(deploymentQuery)
  const [password, setPassword] = useState('')
  const [isReset, setReset] = useState(false)
  const openAfterLogIn = useOpenAfterLogIn()
  const proceed = () => router.navigate({ to: '/', replace: true })
  const { submit, isPending, problem, getFix } = useSubmit({
    check: () => ({ password: password === '' ? 'Choose a password' : undefined }),
    send: () => sendLogIn(callApi('POST /api/account/password/reset', { body: { link, password } })),
    done: async (session) => {
      if (session === 'needsSecondFactor') return openAfterLogIn(session)
      changeSession(queries, { notifyTabs: true })
      queries.setQueryData(sessionQuery.queryKey, session)
      // Someone else may have connected one. It still logs in. The link is used up, so a failure must not show the form again.
      const identities = await queries.fetchQuery(identitiesQuery).catch(() => undefined)
      if (identities?.items.length === 0) await proceed()
      else setReset(true)
    },
    fields: ['password'],
  })
  return (
    <>
      <Unreachable />
      <Alone>
        <PageHead title="Set a new password" />
        {isReset ? (
          <div className="stack">
            <Note kind="good">The password is set, and you are logged in.</Note>
            <ConnectedIdentities />
            <Button kind="primary" onClick={() => void proceed()}>
              Continue
            </Button>
          </div>
        ) : deployment?.passwordLogin === false ? (
          <Note>This service has no passwords.</Note>
        ) : link === '' ? (
          <Note kind="warn">
            You need a link from the operator of this service. <Link to="/log-in">Log in</Link>
          </Note>
        ) : (
          <form className="stack" noValidate onSubmit={submit}>
            <Problem text={problem} />
            <PasswordField
              kind="new"
              label="New password"
              value={password}
              onChange={setPassword}
              fix={getFix('password')}
              hint="At least 8 characters. All other sessions are logged out, and your access tokens are removed."
            />
            <Button kind="primary" type="submit" busy={isPending}>
              Set password and log in
            </Button>
          </form>
        )}
      </Alone>
    </>
  )
}
