import { useQueryClient } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { callApi } from '../control/callApi.ts'
import { isControlFailure } from '../control/controlFailure.ts'
import { sendLogIn, useOpenAfterLogIn } from '../control/logIn.ts'
import { sessionQuery } from '../control/queries.ts'
import { useFragment } from '../control/useFragment.ts'
import { Alone } from '../frame/Alone.tsx'
import { Unreachable } from '../frame/Unreachable.tsx'
import { Problem } from '../parts/Note.tsx'
import { PageHead } from '../parts/PageHead.tsx'

/** The page of the link that `keyrail dev` prints. It logs in once. */
export function LogInLink() {
  const link = useFragment()
  const router = useRouter()
  const queries = useQueryClient()
  const openAfterLogIn = useOpenAfterLogIn()
  // The fragment is removed from the URL, so a reload has none.
  const [problem, setProblem] = useState(link === '' ? 'This URL has no log-in code. Open the whole link again.' : '')
  const isSent = useRef(link === '')
  useEffect(() => {
    // Strict mode runs effects twice, and the link works once.
    if (isSent.current) return
    isSent.current = true
    sendLogIn(callApi('POST /api/session/link', { body: { link } })).then(
      (started) => openAfterLogIn(started),
      async (error: unknown) => {
        // The terminal still shows the link after it was used, so people open it again while they are logged in.
        const session = await callApi('GET /api/session').catch(() => undefined)
        if (session === undefined)
          return setProblem(isControlFailure(error) ? error.message : 'The log-in failed. Try again.')
        queries.setQueryData(sessionQuery.queryKey, session)
        router.history.replace('/')
      },
    )
  }, [link, openAfterLogIn, queries, router])
  return (
    <>
      <Unreachable />
      <Alone>
        <PageHead title="Log in" lead={problem === '' ? 'One moment …' : undefined} />
        {problem !== '' && (
          <>
            <Problem text={problem} />
            <p className="soft">
              <Link to="/log-in">Log in with a password</Link>
            </p>
          </>
        )}
      </Alone>
    </>
  )
}
