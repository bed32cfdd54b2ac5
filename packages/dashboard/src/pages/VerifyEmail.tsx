import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callApi } from '../control/callApi.ts'
import { isControlFailure } from '../control/controlFailure.ts'
import { sessionQuery } from '../control/queries.ts'
import { useFragment } from '../control/useFragment.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Alone } from '../frame/Alone.tsx'
import { Unreachable } from '../frame/Unreachable.tsx'
import { Button } from '../parts/Button.tsx'
import { Note, Problem } from '../parts/Note.tsx'
import { PageHead } from '../parts/PageHead.tsx'

/** Confirms the email address that a link was sent to. */
export function VerifyEmail() {
  const link = useFragment()
  // Another link starts over.
  return <Form key={link} link={link} />
}

function Form({ link }: { readonly link: string }) {
  const queries = useQueryClient()
  const session = useQuery({ ...sessionQuery, retry: false })
  const [email, setEmail] = useState('')
  const { submit, isPending, problem } = useSubmit({
    send: () => callApi('POST /api/account/email/verify', { body: { link } }),
    done: async (account) => {
      setEmail(account.email)
      await queries.invalidateQueries({ queryKey: sessionQuery.queryKey })
    },
  })
  const isLoggedOut = isControlFailure(session.error, 'not_logged_in')
  return (
    <>
      <Unreachable />
      <Alone>
        <PageHead title="Confirm your email address" />
        {email !== '' ? (
          <Note kind="good">
            {email} is confirmed. <Link to="/account/security">To your account</Link>
          </Note>
        ) : isLoggedOut || link === '' ? (
          <Note kind="warn">
            {isLoggedOut
              ? 'Log in to the account that the address is for'
              : 'The URL of this page has no confirmation code'}
            . Then open the link in the email again. <Link to="/log-in">Log in</Link>
          </Note>
        ) : (
          <form className="stack" noValidate onSubmit={submit}>
            <Problem text={problem} />
            {session.data && <p className="soft">For your account {session.data.account.email}.</p>}
            <Button kind="primary" type="submit" busy={isPending}>
              Confirm the address
            </Button>
          </form>
        )}
      </Alone>
    </>
  )
}
