import { globSync, readFileSync, statSync } from 'node:fs'
const site='/tmp/docs-site3'
const [f]=globSync('assets/chunks/@localSearchIndexroot.*.js',{cwd:site})
const {default:index}=await import(site+'/'+f)
const {default:MiniSearch}=await import('/work/wt/docs/node_modules/.pnpm/minisearch@7.2.0/node_modules/minisearch/dist/es/index.js')
const { searchQueries } = await import('./searchQueries.ts')
const o=JSON.parse(readFileSync('docs/.vitepress/search.json','utf8')).options
const m=MiniSearch.loadJSON(index,{fields:['title','titles','text'],storeFields:['title','titles']})
for(const [q,p] of searchQueries){const r=m.search(q,o).slice(0,4).map(x=>x.id); if(r[0]?.replace(/^\/|\.html.*$/g,'')!==p.replace('.md','')) console.log(q,'|',p,'|',r.join(' '))}
for (const n of ['llms.txt','llms-full.txt','sitemap.xml',f]) console.log(n, statSync(site+'/'+n).size)
