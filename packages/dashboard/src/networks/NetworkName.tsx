/** A network's title, with its name in URLs beside it. */
export function NetworkName({ title, network }: { readonly title: string; readonly network: string }) {
  if (title === network) return <code>{network}</code>
  return (
    <>
      {title} <code className="soft small">{network}</code>
    </>
  )
}
