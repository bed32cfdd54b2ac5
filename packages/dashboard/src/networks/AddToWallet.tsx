import { useState } from 'react'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { useDialogs } from '../parts/dialogs.ts'
import { Problem } from '../parts/Note.tsx'
import type { NetworkView } from './searchNetworks.ts'
import { addToWallet, getWallet } from './wallet.ts'

/** Adds a network with its full URL to the wallet of the browser, after a confirmation. Shows nothing without a wallet. */
export function AddToWallet(props: {
  readonly network: NetworkView
  /** Gets the full URL, which contains the key. */
  readonly getUrl: (password: string | undefined) => Promise<string>
}) {
  const { network, getUrl } = props
  const [isConfirming, setConfirming] = useState(false)
  const [failure, setFailure] = useState<string>()
  const { say } = useDialogs()
  const adding = useSubmit({
    send: async (password) => addToWallet(network, await getUrl(password)),
    done: (reason) => {
      setFailure(reason)
      if (reason !== undefined) return
      setConfirming(false)
      say(`Added ${network.title} to the wallet`)
    },
  })
  if (getWallet() === undefined) return null
  return (
    <>
      <Button
        size="little"
        label={`Add to wallet: ${network.title}`}
        onClick={() => {
          setFailure(undefined)
          setConfirming(true)
        }}
      >
        Add to wallet
      </Button>
      {isConfirming && (
        <Dialog title={`Add ${network.title} to your wallet?`} onClose={() => setConfirming(false)}>
          <p className="soft">
            The wallet stores the full URL, which contains the key. Anyone who can open this wallet can read the key and
            make calls with it. Rotating the key makes the URL in the wallet invalid.
          </p>
          <Problem text={adding.problem ?? failure} />
          <div className="row end">
            <Button onClick={() => setConfirming(false)}>Cancel</Button>
            <Button kind="primary" busy={adding.isPending} onClick={() => adding.submit()}>
              Add to wallet
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
