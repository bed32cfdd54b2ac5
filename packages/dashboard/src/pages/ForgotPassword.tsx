import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callApi } from '../control/callApi.ts'
import { deploymentQuery } from '../control/queries.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Alone } from '../frame/Alone.tsx'
import { Unreachable } from '../frame/Unreachable.tsx'
import { Button } from '../parts/Button.tsx'
import { EmailField } from '../parts/EmailField.tsx'
import { Note, Problem } from '../parts/Note.tsx'
import { PageHead } from '../parts/PageHead.tsx'

/** Requests a link to set a new password. */
export function ForgotPassword() {
  const { data: deployment } = useQuery(deploymentQuery)
  const [email, setEmail] = useState('')
  const [isSent, setSent] = useState(false)
  const { submit, isPending, problem, getFix } = useSubmit({
    check: () => ({ email: email.trim() === '' ? 'Enter your email address' : undefined }),
    send: () => callApi('POST /api/account/password/forgot', { body: { email } }),
    done: () => setSent(true),
    fields: ['email'],
  })
  return (
    <>
      <Unreachable />
      <Alone>
        <PageHead title="Forgot your password?" />
        {deployment?.passwordLogin === false ? (
          <Note>This service has no passwords.</Note>
        ) : deployment?.email === false ? (
          <Note>This service sends no email. Ask its operator for a link to set a new password.</Note>
        ) : isSent ? (
          <Note kind="good">
            If {email.trim()} has an account, we sent it a link to set a new password. The link works for one hour. No
            email? Check the spam folder.
          </Note>
        ) : (
          <form className="stack" noValidate onSubmit={submit}>
            <p className="soft">We send you a link to set a new one.</p>
            <Problem text={problem} />
            <EmailField value={email} onChange={setEmail} fix={getFix('email')} />
            <Button kind="primary" type="submit" busy={isPending}>
              Send the link
            </Button>
          </form>
        )}
        <p className="soft">
          <Link to="/log-in">Back to log in</Link>
        </p>
      </Alone>
    </>
  )
}
