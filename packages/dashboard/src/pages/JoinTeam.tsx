import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { callApi } from '../control/callApi.ts'
import { chooseAccount } from '../control/chosenAccount.ts'
import { isControlFailure } from '../control/controlFailure.ts'
import { sessionQuery } from '../control/queries.ts'
import { useFragment } from '../control/useFragment.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Alone } from '../frame/Alone.tsx'
import { Unreachable } from '../frame/Unreachable.tsx'
import { Button } from '../parts/Button.tsx'
import { Note, Problem } from '../parts/Note.tsx'
import { PageHead } from '../parts/PageHead.tsx'

/** Accepts an invite to a team. */
export function JoinTeam() {
  const invite = useFragment()
  const session = useQuery({ ...sessionQuery, retry: false })
  const { submit, isPending, problem } = useSubmit({
    send: () => callApi('POST /api/accounts/join', { body: { invite } }),
    done: ({ id }) => chooseAccount(id),
  })
  const isLoggedOut = isControlFailure(session.error, 'not_logged_in')
  return (
    <>
      <Unreachable />
      <Alone>
        <PageHead title="Join a team" />
        {isLoggedOut || invite === '' ? (
          <Note kind="warn">
            {isLoggedOut
              ? 'Log in, or sign up, with the email address that the invite is for'
              : 'The URL of this page has no invite'}
            . Then open the link again. <Link to="/log-in">Log in</Link> <Link to="/sign-up">Sign up</Link>
          </Note>
        ) : (
          <form className="stack" noValidate onSubmit={submit}>
            <Problem text={problem} />
            {session.data && <p className="soft">As {session.data.account.email}.</p>}
            <Button kind="primary" type="submit" busy={isPending}>
              Join the team
            </Button>
          </form>
        )}
      </Alone>
    </>
  )
}
