<?php
function broken( {
