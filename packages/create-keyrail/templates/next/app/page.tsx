import { Token } from './Token'

export default function Page() {
  return (
    <main>
      <h1>Keyrail and Next.js</h1>
      <Token />
    </main>
  )
}
