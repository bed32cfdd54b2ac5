import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { chooseAccount } from '../control/chosenAccount.ts'
import { factorsQuery, sessionQuery } from '../control/queries.ts'
import { Alone } from '../frame/Alone.tsx'
import { Unreachable } from '../frame/Unreachable.tsx'
import { Button } from '../parts/Button.tsx'
import { PageHead } from '../parts/PageHead.tsx'
import { SecondFactors } from './account/SecondFactors.tsx'

/** The page for a user who has to add a second factor first. */
export function AddSecondFactor() {
  const router = useRouter()
  const { data } = useQuery(factorsQuery)
  const { data: session } = useQuery(sessionQuery)
  const team = session?.actingFor.membersNeedSecondFactor ? session.actingFor.name : undefined
  return (
    <>
      <Unreachable />
      <Alone>
        <PageHead
          title="Add a second factor"
          lead={
            team === undefined
              ? 'This service requires one. Your keys and access tokens keep working.'
              : `The team ${team} requires one of its members.`
          }
        />
        <SecondFactors />
        {data !== undefined && data.items.length > 0 && (
          <Button kind="primary" onClick={() => void router.navigate({ to: '/', replace: true })}>
            Continue
          </Button>
        )}
        {team !== undefined && <Button onClick={() => chooseAccount(undefined)}>Use your personal account</Button>}
      </Alone>
    </>
  )
}
