/** Entry of the console's bundle: puts the page into its place. Everything it shows comes from the API, as text. */
import { render } from "preact";
import { App } from "./app.js";

const place = document.getElementById("console");
if (place !== null) render(<App />, place);
