/** The page: its head, and what the address names below it. */

import { useEffect, useState } from "preact/hooks";
import { type Address, HOME } from "./address";
import { sessionKey, setSessionKey } from "./api";
import { DatasetPage } from "./dataset";
import { HomePage } from "./home";
import { type Go, useAddress } from "./hooks";
import { ImpactPage } from "./impact";
import { JobPage } from "./job";
import { LineagePage } from "./lineage";
import { Link } from "./names";
import { PathsPage } from "./paths";
import { Search } from "./search";
import { KEY_CHANGED } from "./states";
import { TagsPage } from "./tags";
import { WhyPage } from "./why";

export interface PageProps {
  address: Address;
  go: Go;
}

const PAGE_OF = {
  home: HomePage,
  lineage: LineagePage,
  impact: ImpactPage,
  paths: PathsPage,
  why: WhyPage,
  tags: TagsPage,
  dataset: DatasetPage,
  job: JobPage,
} as const;

export function App() {
  const [address, go] = useAddress();
  const turn = useKeyTurn();
  const Page = PAGE_OF[address.page];
  useTitle(address);
  return (
    <>
      <a class="skip" href="#main">
        Go to the content
      </a>
      <header class="head">
        <Link to={HOME} go={go} class="logo" current={address.page === "home"}>
          headwater
        </Link>
        <Search go={go} />
        <ThemeButton />
        {sessionKey() && (
          <button type="button" class="quiet" onClick={forgetKey}>
            Forget key
          </button>
        )}
      </header>
      <main id="main" tabIndex={-1} key={turn}>
        <Page address={address} go={go} />
      </main>
    </>
  );
}

function useKeyTurn(): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const changed = () => setTurn((one) => one + 1);
    addEventListener(KEY_CHANGED, changed);
    return () => removeEventListener(KEY_CHANGED, changed);
  }, []);
  return turn;
}

function forgetKey() {
  setSessionKey("");
  dispatchEvent(new Event(KEY_CHANGED));
}

function useTitle({ page, dataset, field, column, job, namespace }: Address) {
  const about = field || column || dataset || job || namespace;
  useEffect(() => {
    document.title = about ? `${about} · ${page} · headwater` : "headwater";
  }, [about, page]);
}

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("headwater-theme", theme);
    } catch {
      // A browser that stores nothing: the theme is that of the system next time.
    }
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as Theme;
  return (
    <button
      type="button"
      class="quiet"
      onClick={() => setTheme(next)}
      aria-label={`Theme: ${theme}. Change to ${next}`}
    >
      {theme}
    </button>
  );
}

function storedTheme(): Theme {
  try {
    return THEMES.find((one) => one === localStorage.getItem("headwater-theme")) ?? "system";
  } catch {
    return "system";
  }
}
