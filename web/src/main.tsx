import { render } from "preact";
import { App } from "./app/app";
import { SavedView } from "./app/saved";
import "./style/page.css";

const root = document.getElementById("app");
const saved = document.getElementById("saved")?.textContent;
if (root) render(saved ? <SavedView saved={JSON.parse(saved)} /> : <App />, root);
